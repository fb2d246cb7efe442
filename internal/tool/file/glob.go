package file

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// maxFound is how many files one glob returns.
const maxFound = 200

//go:embed glob.md
var globDoc string

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"names to find, such as **/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search; the workspace by default"`
}

func glob(find workspace.Finder) chela.Tool {
	return tool.New(tool.Def[globInput]{
		Name:  "glob",
		Doc:   globDoc,
		Judge: func(in globInput) chela.Judgement { return reading(in.Path) },
		Run: within(find, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[globInput]) (chela.ToolResult, error) {
			top, err := workspace.Clean(call.In.Path)
			if err != nil {
				return chela.ToolResult{}, err
			}
			p, err := parsePattern(strings.TrimPrefix(call.In.Pattern, workspace.Show(top)+"/"))
			if err != nil {
				return tool.Failed("pattern: " + err.Error()), nil
			}
			found, err := search(ctx, ws, top, p)
			if err != nil {
				return chela.ToolResult{}, err
			}
			return tool.Done(listFound(found, call.In.Pattern, top)), nil
		}),
	})
}

// A foundFile is a match of a search.
type foundFile struct {
	name    string
	changed time.Time
}

// search returns the files under top whose names match p, newest first.
func search(ctx context.Context, ws *workspace.Workspace, top string, p pattern) ([]foundFile, error) {
	var found []foundFile
	err := walk(ctx, ws, top, func(name string, d fs.DirEntry) error {
		if d.IsDir() {
			if skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !p.match(under(top, name)) {
			return nil
		}
		info, err := d.Info()
		if notFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, foundFile{name, info.ModTime()})
		return nil
	})
	slices.SortStableFunc(found, func(a, b foundFile) int { return b.changed.Compare(a.changed) })
	return found, err
}

func listFound(found []foundFile, pattern, top string) string {
	if len(found) == 0 {
		return fmt.Sprintf("[no file matches %.200q under %s]", pattern, workspace.Show(top))
	}
	var b strings.Builder
	for _, f := range found[:min(len(found), maxFound)] {
		b.WriteString(workspace.Show(f.name) + "\n")
	}
	if more := len(found) - maxFound; more > 0 {
		fmt.Fprintf(&b, "[%d older files are not shown; use a narrower pattern]\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
