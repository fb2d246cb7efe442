package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"chela"
)

// A Def defines a tool whose arguments decode into In, a struct. Tags describe
// the fields:
//
//	json        the parameter's name; with omitempty the parameter is optional
//	jsonschema  what it means, in a few words
//	enum        the values allowed, separated by commas
//	min, max    bounds of a number, both included
//
// Numbers keep their exact text in fields of type any (json.Number).
type Def[In any] struct {
	Name      string
	Doc       string // Markdown that the model reads; names every parameter
	Timeout   time.Duration
	MaxOutput int

	// Run is required; the others are as in [chela.Tool].
	Run      func(ctx context.Context, call Call[In]) (chela.ToolResult, error)
	Limit    func(in In) time.Duration
	Judge    func(in In) chela.Judgement
	Prepare  func(ctx context.Context, call Call[In]) (chela.Preparation, error)
	Happened func(ctx context.Context, call Call[In]) (*chela.ToolResult, error)
}

// A Call is a tool call with its arguments decoded.
type Call[In any] struct {
	chela.ToolCall
	In In
}

// New returns the tool that def defines. It panics if def cannot be a tool,
// which is a mistake of the programmer.
func New[In any](def Def[In]) chela.Tool {
	if def.Run == nil {
		panic(fmt.Sprintf("tool %q has no Run", def.Name))
	}
	input, err := schemaOf[In]()
	if err != nil {
		panic(fmt.Sprintf("schema of tool %q: %v", def.Name, err))
	}
	t := chela.Tool{
		Name:        def.Name,
		Description: strings.TrimSpace(def.Doc),
		Input:       input,
		Domain:      chela.DomainHost,
		Timeout:     def.Timeout,
		MaxOutput:   def.MaxOutput,
		Run:         withInput(def.Run),
	}
	if def.Limit != nil {
		t.Limit = func(args json.RawMessage) time.Duration {
			in, err := decodeInput[In](args)
			if err != nil {
				return 0
			}
			return def.Limit(in)
		}
	}
	if def.Judge != nil {
		t.Judge = func(args json.RawMessage) chela.Judgement {
			in, err := decodeInput[In](args)
			if err != nil {
				return visible(unreadable(args))
			}
			return visible(def.Judge(in))
		}
	}
	if def.Prepare != nil {
		t.Prepare = withInput(def.Prepare)
	}
	if def.Happened != nil {
		t.Happened = withInput(def.Happened)
	}
	return t
}

// withInput decodes the arguments before it calls f.
func withInput[In, Out any](f func(context.Context, Call[In]) (Out, error)) func(context.Context, chela.ToolCall) (Out, error) {
	return func(ctx context.Context, call chela.ToolCall) (Out, error) {
		in, err := decodeInput[In](call.Args)
		if err != nil {
			var zero Out
			return zero, chela.E(chela.Internal, fmt.Sprintf("the arguments of %s were not checked before it was called", call.Tool)).Because(err)
		}
		return f(ctx, Call[In]{ToolCall: call, In: in})
	}
}

// unreadable is the judgement of arguments that do not decode: only the
// explicit approval of a person may let them pass.
func unreadable(args json.RawMessage) chela.Judgement {
	return chela.Judgement{
		Effect:   chela.EffectExecute,
		Risk:     "its arguments cannot be read",
		Subjects: []string{string(args)},
		Exact:    true,
	}
}

func decodeInput[In any](args json.RawMessage) (In, error) {
	var in In
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return in, fmt.Errorf("decode arguments: %w", err)
	}
	return in, nil
}

// Done returns the result of a call that succeeded.
func Done(text string) chela.ToolResult { return chela.ToolResult{Text: text} }

// Failed returns the result of a call that failed; text says why and which step
// to take instead.
func Failed(text string) chela.ToolResult { return chela.ToolResult{Text: text, Failed: true} }

// OrLater wraps an error of the store in chela.ErrLater if it is Unavailable,
// Exhausted or Internal, and returns others unchanged. It is for tools that
// work on the store.
func OrLater(err error) error {
	if errors.Is(err, chela.ErrLater) {
		return err
	}
	switch chela.KindOf(err) {
	case chela.Unavailable, chela.Exhausted, chela.Internal:
		return fmt.Errorf("%w: %w", chela.ErrLater, err)
	}
	return err
}

// Outcome returns the result of a call that works on the store: text if err is
// nil, and a failed result with the error if the model can act on it. That
// includes Exhausted, which here is a limit of the tool; if it means that the
// store is full, err has to pass through OrLater first. An error wrapped in
// chela.ErrLater is returned as the error.
func Outcome(text string, err error) (chela.ToolResult, error) {
	if chela.KindOf(err) != chela.Exhausted {
		err = OrLater(err)
	}
	switch {
	case err == nil:
		return Done(text), nil
	case errors.Is(err, chela.ErrLater):
		return chela.ToolResult{}, err
	default:
		return Failed(chela.MessageOf(err)), nil
	}
}

// KeepLater returns keep with every error wrapped in chela.ErrLater: a failure
// to store bytes is never the fault of a call.
func KeepLater(keep func(context.Context, []byte) (string, error)) func(context.Context, []byte) (string, error) {
	return func(ctx context.Context, content []byte) (string, error) {
		sum, err := keep(ctx, content)
		if err != nil {
			err = fmt.Errorf("%w: %w", chela.ErrLater, err)
		}
		return sum, err
	}
}
