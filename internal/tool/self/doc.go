// Package self holds the tools with which an agent works on what chela keeps for
// it: jobs, routines, sessions, documents, and messages to people. Access to each
// is injected.
package self

import (
	"context"
	"embed"
	"strings"

	"chela"
	"chela/internal/tool"
)

//go:embed *.md
var docs embed.FS

// define returns the tool called name. Errors of run that the model can act on
// become results; those of the store are returned as chela.ErrLater.
func define[In any](name string, run tool.RunFunc[In], judge func(In) chela.Judgement) chela.Tool {
	return tool.New(name, tool.Doc(docs, name), func(ctx context.Context, call tool.Call[In]) (chela.ToolResult, error) {
		res, err := run(ctx, call)
		if err == nil {
			return res, nil
		}
		failed, err := tool.Outcome("", err)
		failed.Provenance = res.Provenance
		return failed, err
	}, judge)
}

// change is the judgement of a call that changes rows of chela's store and may
// be repeated with the same key.
func change(preview string, subjects ...string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: subjects}
}

// powerful returns the judgement of a call that needs a capability.
func powerful(p chela.Power, j chela.Judgement) chela.Judgement {
	j.Power = p
	return j
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// oneLine joins a text into one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
