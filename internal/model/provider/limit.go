package provider

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"

	"chela"
)

// Limits of one answer. The token-based ones allow for the longest tokens and
// for encrypted reasoning in base64.
const (
	maxAnswer      = 4 << 20 // bytes of text, reasoning and arguments
	maxChunks      = 200_000 // chunks of a stream; the longest answers have 128,000 tokens
	maxCalls       = 128     // tool calls
	bytesPerToken  = 32
	chunksPerToken = 4
	freeTokens     = 2048 // added to the output limit of the request
)

// Limit wraps p with limits on one answer: bytes of text, reasoning and
// arguments, and number of chunks, each derived from the request's output limit
// and capped by a constant. An answer that exceeds one ends like one at its
// output limit: the request is cancelled, and the Finish holds the text so far
// with StopLength, without calls and usage. The same holds if [LimitBody] ended
// the body after some text; without any text it is an error that is not
// Retryable.
//
// Calls beyond the first 128 are dropped, and the answer counts as truncated.
//
// Limit wraps the provider directly, so that the ledger sees the real usage.
func Limit(p chela.Provider) chela.Provider { return limited{p} }

type limited struct{ inner chela.Provider }

// Stream implements [chela.Provider].
func (l limited) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		a := arrived{bytes: maxAnswer, chunks: maxChunks}
		if req.MaxTokens > 0 {
			tokens := min(req.MaxTokens, maxAnswer) + freeTokens
			if req.Sampling != nil {
				tokens *= max(req.Sampling.Choices, 1)
			}
			a.bytes, a.chunks = min(a.bytes, tokens*bytesPerToken), min(a.chunks, tokens*chunksPerToken)
		}
		for chunk, err := range l.inner.Stream(ctx, req) {
			if tooLong, is := errors.AsType[tooLongError](err); is {
				err = a.cut(tooLong, err)
				chunk = chela.Chunk{Finish: a.finish()}
			}
			switch {
			case err != nil:
				yield(chela.Chunk{}, err)
				return
			case chunk.Finish != nil:
				yield(chela.Chunk{Finish: whole(chunk.Finish)}, nil)
				return
			case !yield(chunk, nil):
				return
			case !a.add(chunk):
				yield(chela.Chunk{Finish: a.finish()}, nil)
				return
			}
		}
	}
}

// arrived tracks the remaining limits of an answer.
type arrived struct {
	bytes, chunks int
	text          strings.Builder
}

// add counts a chunk and reports whether the answer may continue.
func (a *arrived) add(c chela.Chunk) bool {
	if c.Anew {
		a.text.Reset()
	}
	a.text.WriteString(c.Text)
	a.chunks--
	a.bytes -= len(c.Text) + len(c.Thinking) + c.Unseen
	return a.chunks > 0 && a.bytes > 0
}

// cut returns nil if text arrived, else the error for an unusable answer.
func (a *arrived) cut(tooLong tooLongError, err error) error {
	if a.text.Len() > 0 {
		return nil
	}
	failed := chela.ProviderError{Kind: chela.Unavailable, Msg: tooLong.Error(), Err: err}
	if from, is := errors.AsType[*chela.ProviderError](err); is {
		failed.Provider = from.Provider
	}
	failed.Provider = cmp.Or(failed.Provider, "provider")
	return &failed
}

// finish returns the end of a truncated answer.
func (a *arrived) finish() *chela.Finish {
	return &chela.Finish{Text: a.text.String(), Stop: chela.StopLength}
}

// whole returns the finish of a complete answer, with its calls capped.
func whole(f *chela.Finish) *chela.Finish {
	if len(f.Calls) <= maxCalls {
		return f
	}
	cut := *f
	cut.Calls, cut.Stop = f.Calls[:maxCalls:maxCalls], chela.StopLength
	return &cut
}
