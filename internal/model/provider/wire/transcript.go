package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"chela"
)

// Unanswered replaces a result that was never recorded, for the model.
const Unanswered = "no result was recorded: the call may or may not have happened"

// maxToolName is the longest tool name that every known server accepts.
const maxToolName = 64

// Whole returns a conversation that servers accept, regardless of its origin:
//
//   - the results of a step follow it at once, one per call, in the order of the
//     calls; a call without a result gets a failed one that says so, a result
//     without a call is left out;
//   - each call has a unique ref that fits: the provider's own if possible, else
//     one derived from it, else the internal id of the call;
//   - arguments are an object (other values are wrapped), and tool names consist of
//     letters, digits, "_" and "-";
//   - texts are valid UTF-8, and messages without content are left out.
//
// The given messages are not changed.
func Whole(messages []chela.Message, fits func(ref string) bool) []chela.Message {
	w := whole{fits: fits, used: map[string]bool{}, out: slices.Grow([]chela.Message(nil), len(messages))}
	for len(messages) > 0 {
		m := messages[0]
		messages = messages[1:]
		switch m.Role {
		case chela.RoleAssistant:
			n := 0
			for n < len(messages) && messages[n].Role != chela.RoleAssistant {
				n++
			}
			w.step(m, messages[:n])
			messages = messages[n:]
		case chela.RoleUser:
			w.add(m)
		}
	}
	return w.out
}

type whole struct {
	fits func(string) bool
	used map[string]bool // refs
	out  []chela.Message
}

// add appends a message unless it is empty.
func (w *whole) add(m chela.Message) {
	m.Text = printable(m.Text)
	if m.Role == chela.RoleTool || m.Text != "" || len(m.Calls) > 0 || len(m.Attachments) > 0 {
		w.out = append(w.out, m)
	}
}

// printable returns text as valid UTF-8, and nothing for blanks alone.
func printable(text string) string {
	if !utf8.ValidString(text) { // the check is cheaper than the replacement
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// step appends an answer of the model, the results of its calls, and then all
// other messages before its next answer.
func (w *whole) step(said chela.Message, rest []chela.Message) {
	var calls []chela.CallSpec
	var results []chela.Message
	taken := map[int]bool{}
	for _, c := range said.Calls {
		r := result(c, rest, taken)
		r.Ref = w.ref(c)
		results = append(results, r)
		calls = append(calls, chela.CallSpec{ID: c.ID, Ref: r.Ref, Tool: toolName(c.Tool), Args: arguments(c)})
	}
	said.Calls = calls
	w.add(said)
	for _, m := range results {
		w.add(m)
	}
	for _, m := range rest {
		if m.Role == chela.RoleUser {
			w.add(m)
		}
	}
}

// result takes the result of a call out of rest: by internal id, or by ref if
// either side has no internal id.
func result(c chela.CallSpec, rest []chela.Message, taken map[int]bool) chela.Message {
	for i, m := range rest {
		if m.Role != chela.RoleTool || taken[i] {
			continue
		}
		if m.Call != "" && m.Call == c.ID || (m.Call == "" || c.ID == "") && m.Ref == c.Ref {
			taken[i] = true
			return m
		}
	}
	return chela.Message{Role: chela.RoleTool, Call: c.ID, Tool: c.Tool, Text: Unanswered, Failed: true}
}

func (w *whole) ref(c chela.CallSpec) string {
	ref := c.Ref
	if !w.fits(ref) {
		ref = plain(ref, 40)
	}
	if ref == "" || w.used[ref] {
		ref = plain(string(c.ID), 40)
	}
	for n := len(w.used); ref == "" || w.used[ref]; n++ {
		ref = fmt.Sprintf("call_%d", n)
	}
	w.used[ref] = true
	return ref
}

// plain returns s with "_" for all but letters, digits, "_" and "-", truncated
// to longest bytes.
func plain(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, s)
	return s[:min(len(s), longest)]
}

func toolName(name string) string {
	if name = plain(name, maxToolName); name == "" {
		return "unnamed"
	}
	return name
}

// arguments returns the arguments of a past call as an object. Other values are
// wrapped under a reserved key, so that the model sees its own text.
func arguments(c chela.CallSpec) json.RawMessage {
	args := bytes.ToValidUTF8(bytes.TrimSpace(c.Args), []byte("\uFFFD"))
	if len(args) > 0 && args[0] == '{' && json.Valid(args) {
		return args
	}
	wrong := c.Raw
	if wrong == "" {
		wrong = string(args)
	}
	if wrong == "" {
		return json.RawMessage(`{}`)
	}
	wrapped, err := json.Marshal(map[string]string{"unparsed_arguments": wrong})
	if err != nil { // strings always encode
		return json.RawMessage(`{}`)
	}
	return wrapped
}
