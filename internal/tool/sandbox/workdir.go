package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"chela"
	"chela/internal/tool/workspace"
)

// Workdir returns the directory that workdir names, relative to the
// workspace, which is at host.
// It may be given as a path below [Root] or relative to it. A path that leaves
// the workspace, also through a symbolic link, is Denied; a path that is not a
// directory is Invalid; a missing one is NotFound.
func Workdir(host, workdir string) (string, error) {
	rel, err := workspace.Clean(workdir)
	if err != nil {
		return "", outside(workdir)
	}
	root, err := os.OpenRoot(host)
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

func outside(workdir string) *chela.Error {
	return chela.E(chela.Denied, "workdir "+workdir+" is outside the workspace").
		WithHint("use a path below " + Root)
}
