// Package wire holds the code shared by all provider protocols: the conversion
// of a step into a stream, the classification of errors, and the normalization
// of transcripts for servers that validate them.
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

// An EmitFunc shows a chunk to the reader of a stream.
type EmitFunc func(chela.Chunk)

// A Step performs one request. It passes each chunk to emit and returns the complete
// answer or an error. Its context ends when the reader has left; its results are
// ignored then.
type Step func(ctx context.Context, emit EmitFunc) (*chela.Finish, error)

// Stream returns the stream of a step, as [chela.Provider] specifies. Chunks
// without content are dropped. After the first chunk no error is Unpaid.
func Stream(ctx context.Context, step Step) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left, came := false, false
		emit := func(c chela.Chunk) {
			if left || c == (chela.Chunk{}) {
				return
			}
			came = true
			if left = !yield(c, nil); left {
				cancel()
			}
		}
		var finish *chela.Finish
		err := ctx.Err()
		if err == nil {
			finish, err = step(ctx, emit)
		}
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

// Finish gives the calls of a complete answer their refs, and sets its stop reason:
// the one that was told, or else the one that follows from the calls.
func Finish(f *chela.Finish, told chela.StopReason) *chela.Finish {
	f.Calls = Calls(f.Calls)
	switch {
	case told != "":
		f.Stop = told
	case len(f.Calls) > 0:
		f.Stop = chela.StopCalls
	default:
		f.Stop = chela.StopEnd
	}
	return f
}

// Calls gives each call of a step a unique ref: a missing or duplicate one
// becomes "call_<place>".
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

// Call returns a call as the model wrote it. Empty and null arguments become an
// empty object; invalid JSON is kept as it is.
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

// Address validates the address of a provider. It returns Invalid unless the
// scheme is http or https, and if it holds credentials, which would end up in
// logs.
func Address(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, chela.E(chela.Invalid, "the base url of the provider is not an http address").
			WithHint("use an address such as https://api.example.com/v1")
	case u.User != nil || u.RawQuery != "":
		return nil, chela.E(chela.Invalid, "the base url of the provider contains credentials or a query").
			WithHint("set the key in its own field")
	}
	return u, nil
}

// Size estimates the length of a request's JSON without attachments, to avoid
// reallocations while it is built.
func Size(req *chela.Request, messages []chela.Message) int {
	const frame = 64 // overhead of a message, call or tool
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
	return n + n/8 // allowance for escapes
}
