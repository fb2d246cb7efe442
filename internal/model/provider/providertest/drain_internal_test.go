package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"chela"
)

// told is a provider that yields what it is told to, right or wrong.
type told []any // chunks and errors

func (p told) Stream(context.Context, *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		for _, v := range p {
			chunk, _ := v.(chela.Chunk)
			err, _ := v.(error)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// TestDrain shows that the form of a stream is looked at: each of these is
// wrong in one way.
func TestDrain(t *testing.T) {
	t.Parallel()
	text := chela.Chunk{Text: "a"}
	end := func(change func(f *chela.Finish)) chela.Chunk {
		f := &chela.Finish{Text: "a", Stop: chela.StopEnd}
		change(f)
		return chela.Chunk{Finish: f}
	}
	whole := end(func(*chela.Finish) {})
	failed := func(change func(e *chela.ProviderError)) error {
		e := &chela.ProviderError{Provider: "p", Kind: chela.Invalid, Msg: "m"}
		change(e)
		return e
	}
	calls := func(calls ...chela.CallSpec) told {
		return told{text, end(func(f *chela.Finish) { f.Calls = calls })}
	}
	object := json.RawMessage(`{}`)
	tests := []struct {
		name string
		told told
		want string // in the problem; empty for none
	}{
		{"right", told{text, whole}, ""},
		{"right error", told{text, failed(func(*chela.ProviderError) {})}, ""},
		{"no end", told{text}, "neither a finish nor an error"},
		{"nothing", nil, "neither a finish nor an error"},
		{"two ends", told{text, whole, whole}, "after the end"},
		{"error after the finish", told{text, whole, errors.New("x")}, "after the end"},
		{"empty chunk", told{text, chela.Chunk{}, whole}, "0 fields"},
		{"two in one", told{chela.Chunk{Text: "a", Thinking: "b"}, whole}, "2 fields"},
		{"text does not join", told{text, text, whole}, "join"},
		{"thinking does not join", told{text, chela.Chunk{Thinking: "b"}, whole}, "join"},
		{"thinking of nobody", told{text, end(func(f *chela.Finish) { f.Thinking = []chela.Thinking{{Redacted: "r"}} })}, "which provider"},
		{"no reason to stop", told{text, end(func(f *chela.Finish) { f.Stop = "" })}, "stop reason"},
		{"less than no tokens", told{text, end(func(f *chela.Finish) { f.Usage.Input = -1 })}, "negative"},
		{"call with our id", calls(chela.CallSpec{ID: "call_1", Ref: "a", Args: object}), "id of ours"},
		{"call without a ref", calls(chela.CallSpec{Args: object}), "not unique"},
		{"ref twice", calls(chela.CallSpec{Ref: "a", Args: object}, chela.CallSpec{Ref: "a", Args: object}), "not unique"},
		{"call without arguments", calls(chela.CallSpec{Ref: "a"}), "exactly one"},
		{"arguments twice", calls(chela.CallSpec{Ref: "a", Args: object, Raw: "{"}), "exactly one"},
		{"arguments are not JSON", calls(chela.CallSpec{Ref: "a", Args: json.RawMessage(`{`)}), "not JSON"},
		{"error of no provider", told{errors.New("x")}, "want *chela.ProviderError"},
		{"context error without its context", told{context.Canceled}, "want *chela.ProviderError"},
		{"provider not named", told{failed(func(e *chela.ProviderError) { e.Provider = "" })}, "does not name"},
		{"kind of our own", told{failed(func(e *chela.ProviderError) { e.Kind = chela.Internal })}, "kind"},
		{"message of two lines", told{failed(func(e *chela.ProviderError) { e.Msg = "a\nb" })}, "one line"},
		{"message too long", told{failed(func(e *chela.ProviderError) { e.Msg = strings.Repeat("a", 301) })}, "one line"},
		{"key in the message", told{failed(func(e *chela.ProviderError) { e.Msg = Key })}, "tells the key"},
		{"key in the cause", told{failed(func(e *chela.ProviderError) { e.Err = errors.New(Key) })}, "tells the key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problem := drain(t.Context(), tt.told, &chela.Request{})
			switch {
			case tt.want == "" && problem != nil:
				t.Errorf("got %v, want no problem", problem)
			case tt.want != "" && (problem == nil || !strings.Contains(problem.Error(), tt.want)):
				t.Errorf("got %v, want %q", problem, tt.want)
			}
		})
	}
}
