package workspace

import (
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"chela"
)

// RootsDir is the folder in which models see further folders, each by its name.
const RootsDir = "/roots"

// A Root is a further folder that a session may read and not change.
type Root struct {
	Name string // at which models see it below RootsDir
	Location
}

// Path returns the path at which models see the root.
func (r Root) Path() string { return path.Join(RootsDir, r.Name) }

// OpenAt opens the workspace of an owner, or the root of it that holds a path, and
// returns the cleaned name of the path in it. The caller closes it. Its errors are those
// of [Finder.Open] and [Clean]; an unknown root is NotFound.
func (f Finder) OpenAt(ctx context.Context, o Owner, p string) (w *Workspace, name string, err error) {
	rootName, name, isRoot := inRoot(p)
	if !isRoot {
		if name, err = Clean(p); err != nil {
			return nil, "", err
		}
		w, err = f.Open(ctx, o)
		return w, name, err
	}
	at, err := f.locate(ctx, o)
	if err != nil {
		return nil, "", err
	}
	for _, r := range at.Roots {
		if r.Name == rootName {
			w, err = open(r.Location, r.Path())
			return w, name, err
		}
	}
	return nil, "", unknownRoot(p, at.Roots)
}

func unknownRoot(p string, roots []Root) error {
	err := chela.Ef(chela.NotFound, "%.200q is in no folder of this session", p)
	if len(roots) == 0 {
		return err.WithHint("use a path under " + Dir)
	}
	return err.WithHint("use a path under " + Dir + ", " + Paths(roots))
}

// Paths lists the paths at which models see roots, for a sentence.
func Paths(roots []Root) string {
	paths := make([]string, len(roots))
	for i, r := range roots {
		paths[i] = r.Path()
	}
	return strings.Join(paths, ", ")
}

// inRoot returns the root and the name in it that a path denotes, relative to [Dir]. It
// reports false for a path that is not below RootsDir. The root is empty for RootsDir
// itself.
func inRoot(p string) (root, name string, ok bool) {
	full := path.Clean(p)
	if !path.IsAbs(p) {
		full = path.Join(Dir, p)
	}
	if full == RootsDir {
		return "", "", true
	}
	rest, ok := strings.CutPrefix(full, RootsDir+"/")
	if !ok || len(p) > maxPath || !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
		return "", "", false
	}
	root, name, below := strings.Cut(rest, "/")
	if !below {
		name = "."
	}
	return root, name, true
}

// A Neighbour is another workspace that shares files with a location: it lies in it,
// or holds it. Its files have labels under its own name.
type Neighbour struct {
	Name  string // of the workspace
	Below string // its path in the location; "" if it holds the location
	Above string // the path of the location in it; "" if it lies in the location
}

// Meet returns the neighbour of a location in a workspace with the given name and
// folder, and reports false if they share no files. Both folders are absolute paths
// without links, separated by "/".
func Meet(dir, name, other string) (n Neighbour, ok bool) {
	n.Name = name
	if dir == other {
		return n, true
	}
	if below, ok := strings.CutPrefix(other, strings.TrimSuffix(dir, "/")+"/"); ok {
		n.Below = below
		return n, true
	}
	n.Above, ok = strings.CutPrefix(dir, strings.TrimSuffix(other, "/")+"/")
	return n, ok
}

// label returns the label of a file of the neighbour as one of the location, and
// reports false for a file that is not in the location.
func (n Neighbour) label(l chela.FileLabel) (chela.FileLabel, bool) {
	every := strings.HasPrefix(l.Path, chela.EveryFile)
	switch {
	case every || n.Below == "" && n.Above == "":
	case n.Below != "":
		l.Path = path.Join(n.Below, l.Path)
	case l.Path == "." || inFolder(n.Above, l.Path):
		l.Path = "."
	case inFolder(l.Path, n.Above):
		l.Path = strings.TrimPrefix(l.Path, n.Above+"/")
	default:
		return l, false
	}
	return l, true
}

// FileLabels returns the labels of the files of a location, those from its neighbours
// included. Labels are usable with an error too.
func (at Location) FileLabels(ctx context.Context, store fileLabels) (all []chela.FileLabel, err error) {
	if at.Name != "" {
		all, err = store.FileLabels(ctx, at.Name)
	}
	for _, n := range at.Neighbours {
		theirs, failed := store.FileLabels(ctx, n.Name)
		if failed != nil {
			return all, failed
		}
		for _, l := range theirs {
			if l, ok := n.label(l); ok {
				all = append(all, l)
			}
		}
	}
	return all, err
}

// fileLabels returns the labels of the files of a workspace by its name.
type fileLabels interface {
	FileLabels(ctx context.Context, workspace string) ([]chela.FileLabel, error)
}
