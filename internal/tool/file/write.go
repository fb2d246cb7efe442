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
	Content string `json:"content" jsonschema:"the whole content"`
}

func writeFile(cfg Config) chela.Tool {
	return tool.New(tool.Def[writeInput]{
		Name: "write_file",
		Doc:  writeDoc,
		// Writing the same content again changes nothing.
		Judge: func(in writeInput) chela.Judgement {
			path := workspace.Subject(in.Path)
			return workspace.GuardObeyed(chela.Judgement{
				Effect:   chela.EffectWrite,
				Resume:   chela.ResumeRepeat,
				Subjects: []string{path},
				Preview:  preview(fmt.Sprintf("write %s, %d bytes:\n%s", path, len(in.Content), in.Content)),
			}, in.Path)
		},
		Prepare: preparing(cfg.Workspace, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[writeInput]) (chela.Preparation, error) {
			name, err := workspace.Clean(call.In.Path)
			if err != nil {
				return chela.Preparation{}, nil // which Run reports
			}
			was, err := ws.Find(ctx, name)
			if err != nil && !fault(err) {
				return chela.Preparation{}, nil // same; an unreadable file is replaced, but cannot be restored
			}
			if err != nil {
				return chela.Preparation{}, err
			}
			p, err := was.Preimage(ctx, cfg.Keep, workspace.Change{Name: name, Content: []byte(call.In.Content)})
			return chela.Preparation{Changes: []chela.Preimage{p}}, err
		}),
		Run: within(cfg.Workspace, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[writeInput]) (chela.ToolResult, error) {
			name, err := workspace.Clean(call.In.Path)
			if err != nil {
				return chela.ToolResult{}, err
			}
			if err := unchanged(ctx, ws, call.Changes); err != nil {
				return chela.ToolResult{}, err
			}
			if err := cfg.Quota.Write(ctx, ws, string(call.ID), workspace.Change{Name: name, Content: []byte(call.In.Content)}); err != nil {
				return chela.ToolResult{}, err
			}
			return tool.Done(fmt.Sprintf("wrote %s: %d bytes, %d lines", workspace.Show(name), len(call.In.Content), countLines(call.In.Content))), nil
		}),
	})
}

// unchanged returns a Conflict if the file to be written has neither the
// content it had when the call was prepared nor the content the call writes.
func unchanged(ctx context.Context, ws *workspace.Workspace, changes []chela.Preimage) error {
	for _, p := range changes {
		is, err := ws.Find(ctx, p.Path)
		if err != nil {
			return err
		}
		if sum := is.Sum(); sum != p.Before && sum != p.After {
			return chela.E(chela.Conflict, workspace.Show(p.Path)+" was modified concurrently").WithHint("read it and try again")
		}
	}
	return nil
}

// countLines counts the lines of text, including an unterminated last one.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
