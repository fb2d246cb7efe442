package tool

import (
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"chela/internal/excerpt"

	"chela"
)

// The limits of what a tool puts out.
const (
	DefaultMaxOutput = 50_000   // bytes of text that the model sees at once, of a tool that says nothing else
	MaxKept          = 10 << 20 // bytes of a longer text that are kept
)

// A KeepFunc keeps the whole of a text and returns what names it. The text is
// durable when it returns.
type KeepFunc func(ctx context.Context, text []byte) (chela.Attachment, error)

// A BoundFunc bounds what a call of a tool put out.
type BoundFunc func(ctx context.Context, t chela.Tool, id chela.CallID, res chela.ToolResult) chela.ToolResult

// Bounded returns what shows of a text that is longer than the tool's own
// MaxOutput, or than fallback if it has none, the first and the last half. The
// whole text is kept, up to [MaxKept] bytes, before the result is returned; the
// line between the halves tells how to read it.
func Bounded(fallback int, keep KeepFunc) BoundFunc {
	return func(ctx context.Context, t chela.Tool, id chela.CallID, res chela.ToolResult) chela.ToolResult {
		output{limit: cmp.Or(t.MaxOutput, fallback), keep: keep}.bound(ctx, id, &res)
		return res
	}
}

// An output bounds what a tool puts out.
type output struct {
	limit int
	keep  KeepFunc
}

// bound keeps a text that is too long and leaves of it what is shown.
func (o output) bound(ctx context.Context, id chela.CallID, res *chela.ToolResult) {
	text := res.Text
	if len(text) <= o.limit {
		return
	}
	head := excerpt.Bytes(text, o.limit/2)
	tail := text[runeEnd(text, len(text)-o.limit/2):]
	gone := fmt.Sprintf("%d of %d bytes are not shown here", len(text)-len(head)-len(tail), len(text))
	kept := excerpt.Bytes(text, MaxKept)
	// What has happened is told even if the turn is being stopped.
	whole, err := o.keep(context.WithoutCancel(ctx), []byte(kept))
	switch {
	case err != nil:
		gone += ", and they could not be kept: " + chela.MessageOf(err)
	default:
		res.Whole = &whole
		gone += fmt.Sprintf("; result_read with handle %q and offset %d reads them", id, len(head))
		if len(kept) < len(text) {
			gone += fmt.Sprintf(", as far as the first %d bytes, which were kept", len(kept))
		}
	}
	res.Text = head + "\n[" + gone + "]\n" + tail
}

// runeEnd returns the smallest index ≥ i at which a rune of text starts or the
// text ends.
func runeEnd(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
