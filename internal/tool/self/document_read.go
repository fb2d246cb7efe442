package self

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
)

// maxRead limits the text that one call of memory_read returns, in bytes.
const maxRead = 40_000

//go:embed memory_read.md
var readDoc string

type readInput struct {
	Path    string `json:"path" jsonschema:"the document, such as USER.md, or memory, heartbeat or daily_log"`
	Offset  int    `json:"offset,omitempty" jsonschema:"first line to return, from 1" min:"1"`
	Version int64  `json:"version,omitempty" jsonschema:"number of an earlier version" min:"1"`
}

func (d documentTools) read() chela.Tool {
	return tool.New(tool.Def[readInput]{
		Name: "memory_read",
		Doc:  readDoc,
		Judge: func(in readInput) chela.Judgement {
			return chela.Judgement{Effect: chela.EffectRead, Subjects: []string{documentSubject(in.Path)}}
		},
		Run: func(ctx context.Context, call tool.Call[readInput]) (chela.ToolResult, error) {
			text, from, err := d.lines(ctx, call)
			res, err := tool.Outcome(text, errorForModel(err))
			res.Provenance = from
			return res, err
		},
	})
}

// lines returns the lines that a call of memory_read asks for, and the
// provenance of the document.
func (d documentTools) lines(ctx context.Context, call tool.Call[readInput]) (text string, from chela.Provenance, err error) {
	path, err := d.path(call.In.Path)
	if err != nil {
		return "", from, err
	}
	if err := mayRead(call.ToolCall, path); err != nil {
		return "", from, err
	}
	doc, err := d.Version(ctx, call.Agent, path, call.In.Version)
	if err != nil {
		return "", from, err
	}
	if doc.Deleted {
		return fmt.Sprintf("[version %d says that %s was deleted]", doc.Version, path), from, nil
	}
	text, err = documentPage(doc.Text, cmp.Or(call.In.Offset, 1))
	return text, doc.Provenance, err
}

// documentPage returns the lines of a text from the given one on, as many as fit into a
// result.
func documentPage(text string, first int) (string, error) {
	if text == "" {
		return "[the document is empty]", nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if first > len(lines) {
		return "", chela.E(chela.Invalid, fmt.Sprintf("offset %d is beyond the end: there are %d lines", first, len(lines)))
	}
	var b strings.Builder
	for n, line := range lines[first-1:] {
		if len(line) > maxRead {
			shown := excerpt.Bytes(line, maxRead/2)
			line = fmt.Sprintf("%s… [%d more bytes in this line]\n", shown, len(strings.TrimSuffix(line, "\n"))-len(shown))
		}
		if b.Len()+len(line) > maxRead {
			fmt.Fprintf(&b, "[there is more, %d lines in all; go on with offset %d]", len(lines), first+n)
			break
		}
		b.WriteString(line)
	}
	return b.String(), nil
}
