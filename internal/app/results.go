package app

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store"
)

// keepText keeps the whole text of a result that is shown in part.
func (a *App) keepText(ctx context.Context, text []byte) (chela.Attachment, error) {
	sum, err := a.blobs.Keep(ctx, text)
	return chela.Attachment{Name: "result.txt", MediaType: "text/plain", SHA256: sum, Size: int64(len(text))}, err
}

// wholeText returns the whole text of the result that a call of a session has.
func (a *App) wholeText(ctx context.Context, session chela.SessionKey, id chela.CallID) ([]byte, error) {
	whole, err := store.Find(ctx, a.store, func(r *store.Read) (*chela.Attachment, error) {
		call, err := r.Call(ctx, id)
		if err == nil && call.Session != session {
			err = chela.E(chela.NotFound, fmt.Sprintf("there is no result with the handle %.60q", id))
		}
		if err != nil {
			return nil, err
		}
		entries, err := r.TurnEntries(ctx, call.Turn)
		for _, e := range entries {
			if e.Kind == chela.EntryToolResult && e.Body.Call == id {
				return e.Body.Whole, err
			}
		}
		return nil, err
	})
	switch {
	case chela.KindOf(err) == chela.NotFound:
		return nil, chela.E(chela.NotFound, fmt.Sprintf("there is no result with the handle %.60q in this session", id)).
			WithHint("use the handle that a shortened result names")
	case err != nil:
		return nil, err
	case whole == nil:
		return nil, chela.E(chela.NotFound, "that result was shown whole").WithHint("look at it above")
	}
	return a.blobs.Load(ctx, *whole)
}
