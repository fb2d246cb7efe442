package self

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
)

// maxRead limits the text that one call of memory_read returns, in bytes.
const maxRead = 40_000

type readInput struct {
	Path    string `json:"path" jsonschema:"the document, such as USER.md, or memory, heartbeat or daily_log"`
	Offset  int    `json:"offset,omitempty" jsonschema:"first line to return, from 1" min:"1"`
	Version int64  `json:"version,omitempty" jsonschema:"number of an earlier version" min:"1"`
}

func (in readInput) judge() chela.Judgement {
	return chela.Judgement{Effect: chela.EffectRead, Subjects: []string{documentSubject(in.Path)}}
}

func (d documentTools) read(ctx context.Context, call tool.Call[readInput]) (res chela.ToolResult, err error) {
	path, err := d.path(call.In.Path)
	if err == nil {
		err = mayRead(call.ToolCall, path)
	}
	if err != nil {
		return res, errorForModel(err)
	}
	doc, err := d.Version(ctx, call.Agent, path, call.In.Version)
	switch {
	case err != nil:
		return res, errorForModel(err)
	case doc.Deleted:
		return tool.Done(fmt.Sprintf("[version %d says that %s was deleted]", doc.Version, path)), nil
	}
	res.Provenance = doc.Provenance
	res.Text, err = documentPage(doc.Text, cmp.Or(call.In.Offset, 1))
	return res, err
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
