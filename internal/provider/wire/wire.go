// Package wire holds what the protocols of all providers have in common: how
// a step becomes a stream, how trouble is classified, and how a transcript is
// made acceptable to servers that check it.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"chela"
)

// A Step performs one request. It hands each piece to emit and returns the
// whole answer or an error. Once emit returns false nobody reads any more: the
// step returns soon, and what it returns is dropped.
type Step func(ctx context.Context, emit func(chela.Chunk) bool) (*chela.Finish, error)

// Stream returns the stream of a step, in the form that [chela.Provider]
// promises. Chunks without content are left out. Once some came, no error is
// Unpaid. The context of the step ends
// with the loop over its stream.
func Stream(ctx context.Context, step Step) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left, came := false, false
		emit := func(c chela.Chunk) bool {
			if !left && c != (chela.Chunk{}) {
				came = true
				left = !yield(c, nil)
			}
			return !left
		}
		finish, err := step(ctx, emit)
		switch {
		case left:
		case err != nil:
			if failed, ok := errors.AsType[*chela.ProviderError](err); ok && came {
				failed.Unpaid = false
			}
			yield(chela.Chunk{}, err)
		default:
			yield(chela.Chunk{Finish: finish}, nil)
		}
	}
}

// Calls completes the calls of one step: a call without a ref, or with the ref
// of another, gets "call_<place>".
func Calls(calls []chela.CallSpec) []chela.CallSpec {
	used := map[string]bool{}
	for i := range calls {
		c := &calls[i]
		for n := i; c.Ref == "" || used[c.Ref]; n++ {
			c.Ref = fmt.Sprintf("call_%d", n)
		}
		used[c.Ref] = true
	}
	return calls
}

// Call returns a call as the model wrote it. No arguments, and null, stand for
// an empty object; arguments that are not JSON are kept as they came.
func Call(ref, tool, args string) chela.CallSpec {
	c := chela.CallSpec{Ref: ref, Tool: tool}
	raw := []byte(strings.ToValidUTF8(args, "\uFFFD"))
	switch trimmed := bytes.TrimSpace(raw); {
	case len(trimmed) == 0 || string(trimmed) == "null":
		c.Args = json.RawMessage(`{}`)
	case json.Valid(trimmed):
		c.Args = trimmed
	default:
		c.Raw = string(raw)
	}
	return c
}

// Address checks the address of a provider. It returns an Invalid error for
// one that is not http or https, or that holds credentials, which would end
// up in logs.
func Address(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, chela.E(chela.Invalid, "base url of a provider is not an http address").
			WithHint("use an address such as https://api.example.com/v1")
	case u.User != nil || u.RawQuery != "":
		return nil, chela.E(chela.Invalid, "base url of a provider holds credentials or a query").
			WithHint("set the key in its own field")
	}
	return u, nil
}

// Size returns about how many bytes the JSON of a request without attachments
// takes, so that it seldom has to move while it grows.
func Size(req *chela.Request, messages []chela.Message) int {
	const frame = 64 // what is written around a message, call or tool
	n := 512 + len(req.System)
	for _, t := range req.Tools {
		n += frame + len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range messages {
		n += frame + len(m.Text)
		for _, c := range m.Calls {
			n += frame + len(c.Ref) + len(c.Tool) + len(c.Args)
		}
		for _, t := range m.Thinking {
			n += frame + len(t.Text) + len(t.Signature)
		}
	}
	return n + n/8 // for what is escaped
}
