package file

import (
	"context"
	"io/fs"
	"strings"

	"chela"
	"chela/internal/tool/workspace"
)

// maxVisited is how many entries one walk visits.
const maxVisited = 200_000

// errVisited ends a walk that reached maxVisited.
var errVisited = chela.E(chela.Exhausted, "there are too many files to look at (200000)").WithHint("name a directory further down as path")

// walk calls f for everything under the directory top, in the order of names,
// without following links. Unreadable entries, and entries removed during the
// walk, are skipped. F may return fs.SkipDir and fs.SkipAll.
func walk(ctx context.Context, ws *workspace.Workspace, top string, f func(name string, d fs.DirEntry) error) error {
	info, err := ws.Stat(top)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return chela.E(chela.Invalid, workspace.Show(top)+" is not a directory").WithHint("use read_file to read a file")
	}
	visited := 0
	err = fs.WalkDir(ws.FS(), top, func(name string, d fs.DirEntry, err error) error {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		if err != nil {
			if name == top {
				return err
			}
			return nil // reading the directory failed; its own entry was reported
		}
		if name == top || workspace.IsTemp(d.Name()) {
			return nil
		}
		if visited++; visited > maxVisited {
			return errVisited
		}
		return f(name, d)
	})
	return ws.Explain(top, err)
}

// under returns name relative to the directory top.
func under(top, name string) string {
	if top == "." {
		return name
	}
	return strings.TrimPrefix(name, top+"/")
}

// skipped reports whether searches skip the directory base because its content
// is generated.
func skipped(base string) bool { return base == ".git" || base == "node_modules" }
