package lane

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store"
)

// WholeResult returns the attachment with the complete text of a shortened result of
// a call in the session. An unknown call, and one whose result was shown
// completely, is NotFound.
func WholeResult(ctx context.Context, r *store.Read, session chela.SessionKey, id chela.CallID) (chela.Attachment, error) {
	call, err := r.Call(ctx, id)
	if chela.KindOf(err) == chela.NotFound || err == nil && call.Session != session {
		return chela.Attachment{}, chela.Ef(chela.NotFound, "there is no result with the handle %.60q in this session", id).
			WithHint("use the handle that a shortened result names")
	}
	if err != nil {
		return chela.Attachment{}, err
	}
	entries, err := r.TurnEntries(ctx, call.Turn)
	if err != nil {
		return chela.Attachment{}, err
	}
	i := slices.IndexFunc(entries, func(e chela.Entry) bool { return e.Result().Call == id })
	if i < 0 || entries[i].Result().Whole == nil {
		return chela.Attachment{}, chela.E(chela.NotFound, "that result was shown completely").WithHint("see the result above")
	}
	return *entries[i].Result().Whole, nil
}
