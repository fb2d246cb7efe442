package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"chela"
)

// FolderState is the state of a folder that exists, in pre-images.
const FolderState = "folder"

// State returns the state of a path as a kind of pre-image sees it. Something of
// another kind counts as missing, and Other is set. A larger file than can be
// written is a Conflict, as its recorded state was smaller.
func (w *Workspace) State(ctx context.Context, kind chela.PreimageKind, name string) (PathState, error) {
	f := PathState{Name: name}
	info, err := w.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		f.Made, err = w.missing(path.Dir(name))
		if errors.Is(err, syscall.ENOTDIR) {
			err = nil
		}
		return f, err
	}
	if err != nil {
		return f, w.Explain(name, err)
	}
	mode := info.Mode()
	switch {
	case kind == chela.PreimageFolder && mode.IsDir():
		f.Exists, f.Folder, f.Mode = true, true, mode.Perm()
	case kind == chela.PreimageLink && mode&fs.ModeSymlink != 0:
		target, err := w.root.Readlink(name)
		f.Exists, f.Content = err == nil, []byte(target)
		return f, w.Explain(name, err)
	case kind == chela.PreimageFile && mode.IsRegular():
		file, info, err := openRegular(w.root, name)
		if err != nil {
			return f, w.Explain(name, err)
		}
		defer file.Close() // read only
		f.Content, err = io.ReadAll(io.LimitReader(Reader(ctx, file), MaxWrite+1))
		if err == nil && len(f.Content) > MaxWrite {
			err = chela.E(chela.Conflict, fmt.Sprintf("%s has %d bytes now", w.Show(name), info.Size()))
		}
		f.Exists, f.Mode = true, info.Mode().Perm()
		return f, w.Explain(name, err)
	default:
		f.Other, f.What = true, nameOf(mode)
		if mode&fs.ModeSymlink != 0 {
			f.What += " to " + w.Link(name)
		}
	}
	return f, nil
}

// nameOf names the kind of a file.
func nameOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode.IsRegular():
		return "regular file"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	default:
		return "special file"
	}
}

// Matches reports whether a path has a recorded state; a mode of 0 is any.
func (f PathState) Matches(sum string, mode uint32) bool {
	return f.Sum() == sum && (mode == 0 || sum == "" || uint32(f.Mode) == mode)
}

// Put changes a path from the state before a pre-image to that after it. A path
// that has it already stays; one in another state is a Conflict. Content is that of
// a file, or the target of a link. Key identifies the request.
func (w *Workspace) Put(ctx context.Context, key string, p chela.Preimage, content []byte) error {
	is, err := w.State(ctx, p.Kind, p.Path)
	switch {
	case err != nil:
		return err
	case is.Matches(p.After, p.ModeAfter):
		return nil
	case is.Sum() != p.Before && is.Sum() != p.After, is.Other && p.After != "":
		return chela.E(chela.Conflict, w.Show(p.Path)+" was changed in this moment")
	}
	return w.Explain(p.Path, w.put(ctx, key, p, content))
}

func (w *Workspace) put(ctx context.Context, key string, p chela.Preimage, content []byte) error {
	switch {
	case p.Kind == chela.PreimageFolder && p.After == "":
		return w.root.Remove(p.Path) // fails unless it is empty
	case p.Kind == chela.PreimageFolder:
		if err := w.root.MkdirAll(p.Path, 0o777); err != nil {
			return err
		}
	case p.Kind == chela.PreimageLink:
		if p.Before != "" {
			if err := w.root.Remove(p.Path); err != nil {
				return err
			}
		}
		if p.After != "" {
			if err := w.makeDirs(path.Dir(p.Path)); err != nil {
				return err
			}
			if err := w.root.Symlink(string(content), p.Path); err != nil {
				return err
			}
		}
		return syncDir(w.root, path.Dir(p.Path))
	case p.Before != p.After:
		mode := p.ModeAfter
		if mode == 0 {
			mode = p.Mode
		}
		err := w.Write(ctx, key, Change{Name: p.Path, Content: content, Delete: p.After == "", Mode: fs.FileMode(mode)})
		if err != nil || p.After == "" {
			return err
		}
	}
	if p.ModeAfter == 0 {
		return nil
	}
	return w.root.Chmod(p.Path, fs.FileMode(p.ModeAfter))
}

// Order returns the position of a pre-image in a rewind: removals before folders,
// folders before their content.
func Order(p chela.Preimage) int {
	depth := strings.Count(p.Path, "/")
	switch {
	case p.Kind == chela.PreimageFolder && p.After == "":
		return 10_000 - depth
	case p.After == "":
		return 0
	case p.Kind == chela.PreimageFolder:
		return 20_000 + depth
	default:
		return 30_000
	}
}
