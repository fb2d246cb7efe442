package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// Limits of one call of list_dir.
const (
	maxEntries   = 1000
	defaultDepth = 3
)

type listInput struct {
	Path      string `json:"path,omitempty" jsonschema:"the directory; the workspace by default"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"also list the directories below"`
	MaxDepth  int    `json:"max_depth,omitempty" jsonschema:"with recursive: number of levels; 3 by default" min:"1" max:"20"`
}

func (in listInput) path() string { return in.Path }

func listDir(ctx context.Context, ws *workspace.Workspace, top string, in listInput) (chela.ToolResult, error) {
	l := listing{ws: ws, top: top, depth: 1}
	if in.Recursive {
		l.depth = cmp.Or(in.MaxDepth, defaultDepth)
	}
	err := walk(ctx, ws, top, l.add)
	return tool.Done(l.String()), err
}

// A listing collects the entries under a directory.
type listing struct {
	ws    *workspace.Workspace
	top   string
	depth int

	b     strings.Builder
	count int
	full  bool
}

func (l *listing) add(name string, d fs.DirEntry) error {
	if l.count == maxEntries {
		l.full = true
		return fs.SkipAll
	}
	l.count++
	level := 0
	if rel := under(l.top, name); rel != "." {
		level = strings.Count(rel, "/")
	}
	l.b.WriteString(strings.Repeat("  ", level) + l.line(name, d) + "\n")
	if d.IsDir() && level+1 >= l.depth {
		return fs.SkipDir
	}
	return nil
}

// line describes one entry.
func (l *listing) line(name string, d fs.DirEntry) string {
	base := workspace.ShowLast(name)
	switch {
	case d.IsDir():
		return base + "/"
	case d.Type()&fs.ModeSymlink != 0:
		return base + " -> " + l.ws.Link(name)
	case !d.Type().IsRegular():
		return base + " (not a regular file)"
	}
	info, err := d.Info()
	if err != nil {
		return base // it was removed during the walk
	}
	return fmt.Sprintf("%s (%d bytes)", base, info.Size())
}

func (l *listing) String() string {
	if l.count == 0 {
		return "[" + workspace.Show(l.top) + " is empty]"
	}
	text := workspace.Show(l.top) + ":\n" + l.b.String()
	if l.full {
		text += fmt.Sprintf("[cut after %d entries; list a directory below, or use glob]", maxEntries)
	}
	return strings.TrimSuffix(text, "\n")
}

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
