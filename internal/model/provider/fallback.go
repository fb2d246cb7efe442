package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"chela"
)

// Fallback retries without streaming: if a stream fails before it showed
// anything, for a reason that streaming itself may cause, the request is sent
// once more unstreamed. Such reasons are
//
//   - the server, model or account cannot stream (Unsupported);
//   - the answer began and was cut, or could not be read (status 200);
//   - a gateway on the way gave up (502, 504).
//
// An overloaded, broken, silent or unreachable server is not such a reason, as
// an immediate retry would add to its load. If the second attempt fails too, its
// error is returned.
func Fallback(p chela.Provider) chela.Provider { return fallback{p} }

type fallback struct{ inner chela.Provider }

func (f fallback) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return relayed(func(r *relay) error {
		err := r.pass(f.inner.Stream(ctx, req))
		if err == nil || r.seen || req.Plain || ctx.Err() != nil || !plainMayHelp(err) {
			return err
		}
		plain := *req
		plain.Plain = true
		return r.pass(f.inner.Stream(withHaste(ctx, false), &plain)) // its first byte is that of the whole answer
	})
}

func plainMayHelp(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	if !ok || pe.Silent { // an unstreamed answer arrives even later
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
