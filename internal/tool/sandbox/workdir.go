package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"chela"
)

// Workdir returns the directory that workdir names, relative to the workspace.
// It may be given as a path below [Root] or relative to it. A path that leaves
// the workspace, also through a symbolic link, is Denied; a path that is not a
// directory is Invalid; a missing one is NotFound.
func Workdir(workspace, workdir string) (string, error) {
	rel, err := relative(workdir)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return "", chela.E(chela.Unavailable, "the workspace cannot be opened").Because(err)
	}
	defer root.Close()
	at, err := root.Stat(filepath.FromSlash(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", chela.E(chela.NotFound, "workdir "+workdir+" does not exist").
			WithHint("create it first, or leave workdir out").Because(err)
	case err != nil:
		return "", outside(workdir).Because(err)
	case !at.IsDir():
		return "", chela.E(chela.Invalid, "workdir "+workdir+" is not a directory")
	}
	return rel, nil
}

// relative turns the path that the model wrote into a clean path without a
// leading slash that does not climb above its root.
func relative(workdir string) (string, error) {
	rel := workdir
	if path.IsAbs(workdir) {
		clean := path.Clean(workdir)
		below, ok := strings.CutPrefix(clean+"/", Root+"/")
		if !ok {
			return "", outside(workdir)
		}
		rel = below
	}
	rel = path.Clean("./" + rel)
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return "", outside(workdir)
	}
	return rel, nil
}

func outside(workdir string) *chela.Error {
	return chela.E(chela.Denied, "workdir "+workdir+" is outside the workspace").
		WithHint("use a path below " + Root)
}
