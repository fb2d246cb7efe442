// Package provider holds what wraps any provider: a second try without
// streaming, and a few more after a while. Each wrapper is a provider around a
// provider, and steps in only as long as nothing was passed on: what a reader
// has seen is never said again.
package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"chela"
)

// Fallback returns p with a second try: where a stream fails before its first
// chunk for a reason that streaming itself may be, the request is made once
// more in one piece. Such reasons are
//
//   - the server, model or account cannot stream (Unsupported);
//   - the answer began and was cut, or could not be read (status 200);
//   - a gateway on the way gave up (502, 504).
//
// A server that is overloaded, broken or out of reach is none: asking again at
// once would only add to its load. If the second try fails too, its error is
// the one passed on.
func Fallback(p chela.Provider) chela.Provider { return fallback{p} }

type fallback struct{ inner chela.Provider }

func (f fallback) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		err := attempt(f.inner.Stream(ctx, req), yield)
		if err != nil && !req.Plain && ctx.Err() == nil && plainMayHelp(err) {
			plain := *req
			plain.Plain = true
			err = attempt(f.inner.Stream(ctx, &plain), yield)
		}
		if err != nil {
			yield(chela.Chunk{}, err)
		}
	}
}

func plainMayHelp(err error) bool {
	var pe *chela.ProviderError
	if !errors.As(err, &pe) {
		return false
	}
	if pe.Kind != chela.Unavailable {
		return pe.Kind == chela.Unsupported
	}
	switch pe.Status {
	case http.StatusOK:
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return pe.After == 0
	default:
		return pe.Cut
	}
}

// attempt passes a stream on to yield. An error that comes before the first
// chunk is not passed on but returned.
func attempt(stream iter.Seq2[chela.Chunk, error], yield func(chela.Chunk, error) bool) error {
	begun := false
	for chunk, err := range stream {
		if err != nil && !begun {
			return err
		}
		begun = true
		if !yield(chunk, err) {
			return nil
		}
	}
	return nil
}
