package file

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

//go:embed write_file.md
var writeDoc string

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file to write, such as notes/plan.md"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

func writeFile(find workspace.Finder) chela.Tool {
	return tool.New(tool.Def[writeInput]{
		Name: "write_file",
		Doc:  writeDoc,
		// Writing the same content again changes nothing.
		Judge: func(in writeInput) chela.Judgement {
			path := workspace.Subject(in.Path)
			return chela.Judgement{
				Effect:   chela.EffectWrite,
				Resume:   chela.ResumeRepeat,
				Subjects: []string{path},
				Preview:  preview(fmt.Sprintf("write %s, %d bytes:\n%s", path, len(in.Content), in.Content)),
			}
		},
		Run: within(find, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[writeInput]) (chela.ToolResult, error) {
			name, err := workspace.Clean(call.In.Path)
			if err != nil {
				return chela.ToolResult{}, err
			}
			if err := ws.Write(ctx, string(call.ID), workspace.Change{Name: name, Content: []byte(call.In.Content)}); err != nil {
				return chela.ToolResult{}, err
			}
			return tool.Done(fmt.Sprintf("wrote %s: %d bytes, %d lines", workspace.Show(name), len(call.In.Content), countLines(call.In.Content))), nil
		}),
	})
}

// countLines counts the lines of text, one without a line end included.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
