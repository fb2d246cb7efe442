package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"chela"
)

// A Change is the change of one file.
type Change struct {
	Name    string
	Content []byte
	Delete  bool        // deletes the file; Content is not used
	Mode    fs.FileMode // permission bits of a new file; zero means the default
}

// TempPrefix begins the names of temporary files. Leftovers of an interrupted
// call are removed when it is repeated.
const TempPrefix = ".chela-"

// Write makes all changes or none: the files are written and synced under
// temporary names first, then renamed, then the deletions follow; if a step
// fails, the ones before it are rolled back. Missing parent directories are
// created; existing files keep their mode. A crash leaves each file in its old
// or its new state. Key identifies the call.
func (w *Workspace) Write(ctx context.Context, key string, changes ...Change) (err error) {
	var staged []*stagedFile
	defer func() {
		for _, s := range staged {
			s.discard()
		}
	}()
	for i, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := w.stage(fmt.Sprintf("%s %d", key, i), c, len(changes) > 1)
		if err != nil {
			return w.Explain(c.Name, err)
		}
		staged = append(staged, s)
	}
	// From here on ctx is ignored: a partial set of changes is worse than a
	// late one.
	for _, deleting := range []bool{false, true} {
		for i, s := range staged {
			if changes[i].Delete != deleting {
				continue
			}
			if err := s.commit(); err != nil {
				return errors.Join(w.Explain(changes[i].Name, err), takeBack(staged))
			}
		}
	}
	return nil
}

// takeBack rolls back the committed changes, last one first.
func takeBack(staged []*stagedFile) error {
	var errs []error
	for _, s := range slices.Backward(staged) {
		if s.committed {
			errs = append(errs, s.restore())
		}
	}
	return errors.Join(errs...)
}

// A stagedFile is a change that is ready to be committed. Its directory is held
// open, so that replacing a parent by a link redirects nothing.
type stagedFile struct {
	dir       *os.Root
	base      string
	temp      string // empty for a deletion
	backup    string // a copy of the old file, if the change may be rolled back
	isNew     bool   // there was no old file
	committed bool
}

// stage prepares a change; keep says that it may have to be rolled back.
func (w *Workspace) stage(key string, c Change, keep bool) (*stagedFile, error) {
	if c.Name == "." {
		return nil, chela.E(chela.Invalid, Dir+" is a directory")
	}
	if len(c.Content) > MaxWrite {
		return nil, chela.E(chela.Exhausted, fmt.Sprintf("%s would have %d bytes, %d are allowed", w.Show(c.Name), len(c.Content), MaxWrite)).
			WithHint("write less, or in several files")
	}
	if err := w.refuseHidden(c.Name); err != nil {
		return nil, err
	}
	parent := path.Dir(c.Name)
	if !c.Delete {
		if err := w.makeDirs(parent); err != nil {
			return nil, err
		}
	}
	dir, err := w.root.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	s := &stagedFile{dir: dir, base: path.Base(c.Name)}
	old, err := w.replaceable(dir, c)
	if err == nil {
		err = s.write(key, c, old, keep)
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// write writes the files of the staging.
func (s *stagedFile) write(key string, c Change, old fs.FileInfo, keep bool) error {
	sum := sha256.Sum256([]byte(key))
	name := TempPrefix + hex.EncodeToString(sum[:8])
	s.isNew = old == nil
	if keep && !s.isNew {
		s.backup = name + ".old"
		content, err := readSmall(s.dir, s.base)
		if err != nil {
			return err
		}
		if err := s.writeTemp(s.backup, content, modeOf(old, 0)); err != nil {
			return err
		}
	}
	if c.Delete {
		return nil
	}
	s.temp = name + ".new"
	return s.writeTemp(s.temp, c.Content, modeOf(old, c.Mode))
}

// replaceable returns the info of the file that c replaces, nil for a new file.
func (w *Workspace) replaceable(dir *os.Root, c Change) (fs.FileInfo, error) {
	old, err := dir.Lstat(path.Base(c.Name))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !c.Delete {
			return nil, nil
		}
		return nil, err
	}
	if old.Mode()&fs.ModeSymlink != 0 {
		return nil, w.aLink(c.Name)
	}
	return old, w.refuse(c.Name, old, false)
}

// makeDirs creates the missing parents of a file and syncs the directories that
// hold them.
func (w *Workspace) makeDirs(parent string) error {
	var missing []string
	for dir := parent; dir != "."; dir = path.Dir(dir) {
		if info, err := w.root.Stat(dir); err == nil {
			if !info.IsDir() {
				return syscall.ENOTDIR
			}
			break
		}
		missing = append(missing, dir)
	}
	if err := w.root.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	for _, dir := range missing {
		if err := syncDir(w.root, path.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// modeOf returns the mode for a file that replaces old, or the requested mode
// for a new file. Nil is the default.
func modeOf(old fs.FileInfo, asked fs.FileMode) *fs.FileMode {
	switch {
	case old != nil:
		asked = old.Mode()
	case asked == 0:
		return nil
	}
	return &asked
}

// writeTemp writes and syncs a file of the staging, with the default mode if
// none is given.
func (s *stagedFile) writeTemp(name string, content []byte, mode *fs.FileMode) (err error) {
	// Removes the leftover of an interrupted call; O_EXCL then ensures that no
	// other process has created the file.
	if err := s.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := s.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if mode != nil {
		if err := f.Chmod(mode.Perm()); err != nil {
			return err
		}
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// commit makes the change and syncs the directory.
func (s *stagedFile) commit() error {
	var err error
	if s.temp == "" {
		err = s.dir.Remove(s.base)
	} else {
		err = s.dir.Rename(s.temp, s.base)
	}
	if err != nil {
		return err
	}
	s.committed = true
	return syncDir(s.dir, ".")
}

// restore puts the old file back, or removes a new one.
func (s *stagedFile) restore() error {
	var err error
	switch {
	case s.isNew:
		err = s.dir.Remove(s.base)
	case s.backup != "":
		err = s.dir.Rename(s.backup, s.base)
	}
	if err != nil {
		s.backup = "" // it is the only copy of the old file; discard spares it
	}
	return errors.Join(err, syncDir(s.dir, "."))
}

// readSmall returns the content of a file that is about to be replaced.
func readSmall(dir *os.Root, name string) ([]byte, error) {
	f, info, err := openRegular(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	if info.Size() > MaxWrite {
		return nil, chela.E(chela.Exhausted, fmt.Sprintf("%s has %d bytes, %d are allowed", name, info.Size(), MaxWrite))
	}
	return io.ReadAll(io.LimitReader(f, MaxWrite))
}

// discard removes the rest of the staging. Errors are ignored: a repeated call
// begins by removing the leftovers.
func (s *stagedFile) discard() {
	for _, name := range []string{s.temp, s.backup} {
		if name != "" {
			_ = s.dir.Remove(name)
		}
	}
	_ = s.dir.Close()
}

// IsTemp reports whether base is the name of a file that is being written.
func IsTemp(base string) bool { return strings.HasPrefix(base, TempPrefix) }
