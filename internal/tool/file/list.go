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
