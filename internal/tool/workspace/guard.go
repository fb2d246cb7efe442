package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"chela"
)

// Limits of a guard.
const (
	maxGuarded     = 1 << 20  // bytes of a file
	maxGuardedAll  = 32 << 20 // bytes of all files
	maxGuardDepth  = 128      // folders below each other
	maxHeld        = 64       // replaced versions of files
	maxProtections = 256      // read-only mounts
)

// HeldDir is the folder of a workspace with the versions that a guard replaced, each
// below the name of its call.
const HeldDir = ".chela-held"

// A Guard holds the files of a workspace that programs or agents obey (see
// [ObeyedBy]), and those with which version control runs programs, as they were
// before a command that was allowed without asking. Restore puts back those that the
// command changed, in whatever way.
//
// Output folders, such as node_modules and target, hold programs that tools made
// and run; in them only repositories are guarded.
type Guard struct {
	w      *Workspace
	except []string // names that may change
	before map[string]guarded
	pinned map[string]bool // files that a sandbox mounts read-only
	size   int
}

// A guarded is a file as it was.
type guarded struct {
	by      string
	mode    fs.FileMode
	content []byte // or the target of a link
	stamp   stamp
	stamped bool
}

// Guard reads the files that programs obey, except those at the given names and
// below. It is an Exhausted error if they are too large to be kept, and Denied if
// a folder cannot be read.
func (w *Workspace) Guard(except ...string) (*Guard, error) {
	g := &Guard{w: w, except: except, before: map[string]guarded{}, pinned: map[string]bool{}}
	s := scan{g: g, unreadable: func(name string, err error) error {
		return chela.E(chela.Denied, w.Show(name)+" cannot be read, so programs could be made to obey files in it unnoticed").
			WithHint("make it readable").Because(err)
	}}
	err := s.walk(".", place{}, func(name, by string, info fs.FileInfo) error {
		kept, err := g.read(name, by, info)
		if err != nil {
			return err
		}
		if g.size += len(kept.content); g.size > maxGuardedAll {
			return chela.E(chela.Exhausted, "the files that programs obey are larger than 32 MiB together").WithHint("see " + w.Show(name))
		}
		g.before[name] = kept
		return nil
	})
	return g, err
}

// read reads a file.
func (g *Guard) read(name, by string, info fs.FileInfo) (k guarded, err error) {
	k = guarded{by: by, mode: info.Mode()}
	k.stamp, k.stamped = stampOf(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := g.w.root.Readlink(name)
		k.content = []byte(target)
		return k, err
	case !info.Mode().IsRegular():
		return k, nil
	case info.Size() > maxGuarded:
		return k, chela.E(chela.Exhausted, g.w.Show(name)+", which programs obey, is larger than 1 MiB").WithHint("make it smaller, or name it in obeyed")
	}
	k.content, err = g.content(name)
	if errors.Is(err, fs.ErrPermission) {
		err = chela.E(chela.Denied, g.w.Show(name)+", which programs obey, cannot be read").WithHint("make it readable").Because(err)
	}
	return k, err
}

// content reads a file that was a regular one a moment ago.
func (g *Guard) content(name string) ([]byte, error) {
	f, err := g.w.root.OpenFile(name, os.O_RDONLY|noBlock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.LimitReader(f, maxGuarded+1))
}

// create writes a new file.
func (g *Guard) create(name string, content []byte, mode fs.FileMode) error {
	f, err := g.w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// Protect returns the names that a sandbox should mount read-only, so that the
// command cannot change them even for a moment; everything below a name counts. The
// guard then leaves changes of them alone: others made them.
func (g *Guard) Protect() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(g.before)) {
		top, ok := protection(name)
		if !ok || g.before[name].mode&fs.ModeSymlink != 0 || slices.Contains(names, top) || len(names) == maxProtections {
			continue
		}
		names = append(names, top)
	}
	return names
}

// Pinned tells the guard that names were mounted read-only.
func (g *Guard) Pinned(names []string) {
	for name := range g.before {
		g.pinned[name] = slices.ContainsFunc(names, func(top string) bool { return inFolder(name, top) })
	}
}

// protection returns the folder or file to mount for a guarded name, and whether
// there is one: only strong kinds are mounted. Build files are replaced by every change of a branch, which mounts would break.
func protection(name string) (top string, ok bool) {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if plainName(part) == ".git" && i+1 < len(parts) {
			return path.Join(parts[:i+2]...), true
		}
		by := kindOf(part, i+1 < len(parts))
		if strong(by) {
			return path.Join(parts[:i+1]...), true
		}
	}
	return "", false
}

// strong reports whether files of a kind are obeyed without anybody starting a
// program for them.
func strong(by string) bool {
	return slices.Contains([]string{"version control", "editors", "continuous integration", "agents"}, by)
}

// A Restored is a file that a command changed and that is as before again.
type Restored struct {
	Name string
	By   string // the programs that obey it
	Held string // the version of the command; empty if none was kept
}

// Restore puts back the guarded files that changed since, and removes those that
// are new. The versions that it replaces are held for a call. An error leaves the others restored.
func (g *Guard) Restore(call string) (all []Restored, err error) {
	now := map[string]fs.FileInfo{}
	by := map[string]string{}
	s := scan{g: g, unreadable: func(name string, _ error) error { return g.w.root.Chmod(name, 0o700) }}
	err = s.walk(".", place{}, func(name, of string, info fs.FileInfo) error {
		now[name], by[name] = info, of
		return nil
	})
	for name := range g.before {
		if _, ok := now[name]; !ok {
			by[name] = g.before[name].by
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		was, existed := g.before[name]
		info := now[name]
		if g.pinned[name] || existed && info != nil && g.same(name, was, info) {
			continue
		}
		r := Restored{Name: name, By: by[name]}
		if info != nil && len(all) < maxHeld {
			r.Held = g.hold(call, name, info)
		}
		failed := g.w.root.RemoveAll(name)
		if failed == nil && existed {
			failed = g.put(name, was)
		}
		if failed == nil && !existed {
			g.tidy(path.Dir(name))
		}
		if failed != nil {
			err = cmp.Or(err, fmt.Errorf("put %s back: %w", name, failed))
			continue
		}
		all = append(all, r)
	}
	return all, err
}

// same reports whether a file is as it was.
func (g *Guard) same(name string, was guarded, info fs.FileInfo) bool {
	if s, ok := stampOf(info); ok && was.stamped && s == was.stamp {
		return true
	}
	if info.Mode() != was.mode {
		return false
	}
	is, err := g.read(name, was.by, info)
	return err == nil && bytes.Equal(is.content, was.content)
}

// put writes a file as it was, in place of links and files in its way.
func (g *Guard) put(name string, was guarded) error {
	root := g.w.root
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if at, err := root.Lstat(dir); err == nil && !at.IsDir() {
			if err := root.Remove(dir); err != nil {
				return err
			}
		}
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if was.mode&fs.ModeSymlink != 0 {
		return root.Symlink(string(was.content), name)
	}
	if !was.mode.IsRegular() {
		return nil // a socket or a device, which holds nothing to put back
	}
	if err := g.create(name, was.content, was.mode.Perm()); err != nil {
		return err
	}
	return root.Chmod(name, was.mode.Perm()) // whatever the umask is
}

// hold keeps the version of a command, for a person to look at. It returns "" for
// one that it cannot keep.
func (g *Guard) hold(call, name string, info fs.FileInfo) string {
	if !info.Mode().IsRegular() || info.Size() > maxGuarded {
		return ""
	}
	if dir, err := g.w.root.Lstat(HeldDir); err == nil && !dir.IsDir() {
		return "" // a link, which may lead to what programs obey
	}
	content, err := g.content(name)
	at := path.Join(HeldDir, call, name)
	if err != nil || g.w.root.MkdirAll(path.Dir(at), 0o700) != nil || g.create(at, content, 0o600) != nil {
		return ""
	}
	return at
}

// tidy removes folders that a removed file left empty, if they are ones that
// programs obey.
func (g *Guard) tidy(dir string) {
	for ; dir != "." && ObeyedBy(dir) != ""; dir = path.Dir(dir) {
		if g.w.root.Remove(dir) != nil { // it holds more
			return
		}
	}
}

// A scan walks over the files that a guard holds.
type scan struct {
	g          *Guard
	unreadable func(name string, err error) error // makes a folder readable, or returns why not
}

// A place holds the facts about a folder that decide about its files.
type place struct {
	by     string                 // everything below is obeyed by these programs
	only   func(rest string) bool // unless it says no to the rest of the name; nil keeps all
	top    string                 // the folder that only counts from
	output bool                   // only repositories are looked for
	depth  int
}

// walk calls visit with each guarded file.
func (s scan) walk(dir string, at place, visit func(name, by string, info fs.FileInfo) error) error {
	if at.depth > maxGuardDepth {
		return nil
	}
	entries, err := s.entries(dir)
	if err != nil {
		return err
	}
	if at.by == "" && isRepository(entries) {
		at.by, at.only, at.top = "version control", gitRuns, dir
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if slices.ContainsFunc(s.g.except, func(x string) bool { return inFolder(name, x) }) || name == HeldDir {
			continue
		}
		if e.IsDir() {
			err = s.walk(name, at.below(name, e.Name()), visit)
		} else if by := at.holds(name, e.Name()); by != "" {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				err = visit(name, by, info)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // others may remove files meanwhile
			return err
		}
	}
	return nil
}

// entries returns the entries of a folder, without following links.
func (s scan) entries(dir string) ([]fs.DirEntry, error) {
	f, err := s.g.w.root.OpenFile(dir, os.O_RDONLY|openDir, 0)
	if errors.Is(err, fs.ErrPermission) {
		if err = s.unreadable(dir, err); err == nil {
			f, err = s.g.w.root.OpenFile(dir, os.O_RDONLY|openDir, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return f.ReadDir(-1)
}

// isRepository reports whether a folder is a repository of git, whatever its name.
func isRepository(entries []fs.DirEntry) bool {
	found := 0
	for _, e := range entries {
		if e.Name() == "HEAD" || (e.Name() == "objects" || e.Name() == "refs") && e.IsDir() {
			found++
		}
	}
	return found == 3
}

// below returns the place of a folder in p.
func (p place) below(name, base string) place {
	p.depth++
	if p.by != "" {
		return p
	}
	plain := plainName(base)
	switch by := kindOf(base, true); {
	case plain == ".git":
		p.by, p.only, p.top = by, gitRuns, name
	case slices.Contains([]string{".hg", ".svn", ".bzr", ".jj"}, plain):
		p.by, p.only, p.top = by, otherRuns, name
	case p.output:
	case by != "":
		p.by, p.top = by, name
		p.only = func(rest string) bool { return !listedPath(caches, plain+"/"+rest) }
	case listed(outputs, plain):
		p.output = true
	}
	return p
}

// holds returns the programs that obey a file in p, or "".
func (p place) holds(name, base string) string {
	switch {
	case p.by != "" && (p.only == nil || p.only(strings.TrimPrefix(name, p.top+"/"))):
		return p.by
	case p.by != "":
		return ""
	case p.output && plainName(base) != ".git":
		return ""
	default:
		return kindOf(base, false)
	}
}

// kindOf returns the programs that obey a file or folder with a name, wherever it is.
func kindOf(base string, dir bool) string {
	plain := plainName(base)
	for _, k := range obeyedKinds {
		if k.hasDir(plain) || !dir && listed(k.files, plain) {
			return k.by
		}
	}
	return ""
}

// outputs are folders that hold what tools make.
const outputs = `
	node_modules bower_components target build dist out _build builddir cmake-build-* .venv venv virtualenv .tox .nox .eggs *.egg-info
	__pycache__ .mypy_cache .pytest_cache .ruff_cache .next .nuxt .svelte-kit .angular .turbo .parcel-cache .cache coverage htmlcov vendor
`

// caches are paths below folders that programs obey with what tools keep for
// themselves, as the workspace is the home folder of commands.
var caches = []string{
	".config/go/", ".config/yarn/", ".config/configstore/", ".config/matplotlib/", ".config/pip/selfcheck", ".config/nextjs-nodejs/",
	".local/share/", ".local/state/", ".local/lib/", ".cargo/registry/", ".cargo/git/", ".cargo/.package-cache", ".cargo/.global-cache",
	".rustup/toolchains/", ".rustup/tmp/", ".rustup/downloads/", ".m2/repository/", ".gradle/caches/", ".gradle/daemon/", ".gradle/native/",
	".gradle/wrapper/dists/", ".gradle/notifications/", ".gradle/buildOutputCleanup/", ".gradle/vcs-1/", ".gradle/file-system.probe",
	".yarn/cache/", ".yarn/unplugged/", ".yarn/install-state.gz", ".yarn/berry/", ".bundle/cache/",
}

func listedPath(paths []string, name string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(name, p) })
}

// gitKeeps are the files and folders of a repository with its history and its state,
// which run no program.
const gitKeeps = `
	objects refs logs lfs rr-cache sequencer index index.lock head head.lock packed-refs packed-refs.lock packed-refs.new shallow shallow.lock
	orig_head fetch_head merge_head merge_msg merge_mode merge_rr auto_merge cherry_pick_head revert_head squash_msg commit_editmsg tag_editmsg
	bisect_* gc.pid gc.log reftable next-index-*.lock
`

// gitRuns reports whether a file of a repository may make git run programs: all but
// its history and state, so that a commit changes none of them.
func gitRuns(rest string) bool {
	parts := strings.Split(rest, "/")
	if plainName(parts[0]) == "modules" && len(parts) > 2 { // repositories of submodules
		parts = parts[2:]
	}
	return !listed(gitKeeps, plainName(parts[0])) && strings.Join(parts, "/") != "info/refs"
}

// otherRuns is gitRuns for other systems of version control.
func otherRuns(rest string) bool {
	return slices.ContainsFunc(strings.Split(rest, "/"), func(part string) bool {
		return listed("hgrc hgrc-not-shared config config.* conf bazaar.conf branch.conf hooks", plainName(part))
	})
}
