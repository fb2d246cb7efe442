package app

import (
	"context"

	"chela"
	"chela/internal/engine/lane"
	"chela/internal/store"
)

// keepText stores the whole text of a truncated result.
func (a *App) keepText(ctx context.Context, text []byte) (chela.Attachment, error) {
	sum, err := a.blobs.Keep(ctx, text)
	return chela.Attachment{Name: "result.txt", MediaType: "text/plain", SHA256: sum, Size: int64(len(text))}, err
}

// keepDocument stores a version of a document for undo, as the store holds it: without
// credentials.
func (a *App) keepDocument(ctx context.Context, text []byte) (string, error) {
	return a.blobs.Keep(ctx, []byte(a.opening.leaks.Value(string(text))))
}

// wholeText returns the whole text of a call's result in a session.
func (a *App) wholeText(ctx context.Context, session chela.SessionKey, id chela.CallID) ([]byte, error) {
	whole, err := store.Find(ctx, a.store, func(r *store.Read) (chela.Attachment, error) {
		return lane.WholeResult(ctx, r, session, id)
	})
	if err != nil {
		return nil, err
	}
	return a.blobs.Load(ctx, whole)
}
