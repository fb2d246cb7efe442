// Package extract holds the tool that reads a text which stays out of the prompt. A model
// without tools gets the text, in a frame that names its source, and the fields that the
// call asks for; values that fit their types come back:
//
//	call ─▶ text in parts ─▶ model, part by part ─▶ checked values ─▶ one object
//
// A text that follows orders can make the reading model answer wrong values, and nothing
// else: no word of it reaches the prompt but in fields of the type text or list. How far
// the result is trusted follows from what its fields can carry, see [label].
package extract

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/safety"
	"chela/internal/tool"
)

//go:embed extract.md
var doc string

// Name is the name of the tool.
const Name = "extract"

// timeout limits a call: each part is a request to a model.
const timeout = 10 * time.Minute

// A Source is a text that a call may read.
type Source struct {
	Text       string
	Files      []chela.Attachment // read too; not texts
	Provenance chela.Provenance   // of the text
}

// A FindFunc returns the text with a handle, for a call. It is NotFound or Invalid with a
// message for the model if the session has none.
type FindFunc func(ctx context.Context, call chela.ToolCall, handle string) (Source, error)

type input struct {
	Handle string  `json:"handle" jsonschema:"handle in the notice"`
	Fields []field `json:"fields" jsonschema:"what to return"`
}

// Tool returns the tool extract, which reads texts that find returns.
func Tool(find FindFunc) chela.Tool {
	t := tool.New(Name, doc, func(ctx context.Context, call tool.Call[input]) (chela.ToolResult, error) {
		if why := unfit(call.In.Fields); why != "" {
			return tool.Failed(why), nil
		}
		if call.Ask == nil {
			return tool.Failed("texts can be read within a turn only"), nil
		}
		src, err := find(ctx, call.ToolCall, call.In.Handle)
		switch kind := chela.KindOf(err); {
		case kind == chela.NotFound || kind == chela.Invalid:
			return tool.Failed(chela.MessageOf(err)), nil
		case err != nil:
			return chela.ToolResult{}, fmt.Errorf("find text %.60q: %w", call.In.Handle, tool.OrLater(err))
		}
		return read(ctx, call, src)
	}, func(in input) chela.Judgement {
		return chela.Judgement{Effect: chela.EffectRead, Resume: chela.ResumeRepeat, Subjects: []string{in.Handle}}
	})
	t.Timeout = timeout
	return t
}

// read has a model read a text part by part.
func read(ctx context.Context, call tool.Call[input], src Source) (chela.ToolResult, error) {
	fields := call.In.Fields
	parts, left := split(src.Text, partSize(call.Room))
	values := make([]any, len(fields))
	unfit := map[string]bool{}
	for i, part := range parts {
		req, err := request(fields, src, part)
		if err != nil {
			return chela.ToolResult{}, err
		}
		if i > 0 {
			req.Messages[0].Attachments = nil // the first part has them
		}
		found, bad, err := ask(ctx, call.ToolCall, fields, req)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return chela.ToolResult{}, ctx.Err()
		case errors.Is(err, chela.ErrLater):
			return chela.ToolResult{}, err
		default:
			return tool.Failed("the text was not read: " + chela.MessageOf(err)), nil
		}
		for k := range fields {
			values[k] = merge(values[k], found[k])
			unfit[fields[k].Name] = unfit[fields[k].Name] || bad[k]
		}
	}
	res := tool.Done(report(fields, values, unfit))
	if left > 0 {
		res.Text += fmt.Sprintf("\n[the last %d bytes of the text were not read]", left)
	}
	res.Provenance = safety.Label(Name, label(fields, src.Provenance))
	return res, nil
}

// report returns the values as one JSON object in the order of the fields, and the
// fields whose values did not fit.
func report(fields []field, values []any, unfit map[string]bool) string {
	var b, bad strings.Builder
	for k, f := range fields {
		raw, err := json.Marshal(values[k])
		if err != nil {
			raw = []byte("null") // of no type that a field has
		}
		fmt.Fprintf(&b, ", %q: %s", f.Name, raw)
		if unfit[f.Name] && values[k] == nil {
			bad.WriteString(" " + f.Name)
		}
	}
	text := "{" + strings.TrimPrefix(b.String(), ", ") + "}"
	if bad.Len() > 0 {
		text += "\n[a value was found that does not fit the type of:" + bad.String() + "]"
	}
	return text
}

// lowBits is how much a result may carry to count as data, which asks for nothing: less
// than any address, account or order needs.
const lowBits = 24

// label returns the provenance of a result. An author of the text chooses its values. If
// those could only be a few truth values, dates and choices that the asking model wrote
// itself, the result is as trusted as a file of a folder; else it is as the text. It
// is as private as the text in any case.
func label(fields []field, of chela.Provenance) chela.Provenance {
	bits := 0
	for _, f := range fields {
		bits += f.bits()
	}
	if bits > lowBits || !of.BelowFolder() {
		return of
	}
	of.Integrity, of.Suspect = chela.IntegrityFolder, false
	return of
}

// ask has the model read a part, a second time if it answers anything but an object.
func ask(ctx context.Context, call chela.ToolCall, fields []field, req *chela.Request) (found []any, unfit []bool, err error) {
	text, err := call.Ask(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if found, unfit, ok := parse(fields, text); ok {
		return found, unfit, nil
	}
	req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Text: excerpt.Bytes(text, maxEcho) + "…"},
		chela.Message{Role: chela.RoleUser, Text: "That is not one JSON object with the fields. Answer with the object alone."})
	if text, err = call.Ask(ctx, req); err != nil {
		return nil, nil, err
	}
	found, unfit, ok := parse(fields, text)
	if !ok {
		return nil, nil, chela.E(chela.Unavailable, "the model that read it returned no fields; ask for fewer or simpler ones")
	}
	return found, unfit, nil
}

// maxEcho limits the part of a wrong answer that is sent back, in bytes.
const maxEcho = 500
