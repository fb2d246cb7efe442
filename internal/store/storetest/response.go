package storetest

import (
	"testing"

	"chela/internal/store"
)

// checkDeletedResponses deletes a response twice.
func checkDeletedResponses(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	deleted := func(id string) bool {
		return read(t, s, func(r *store.Read) (bool, error) { return r.ResponseDeleted(ctx, id) })
	}
	same(t, false, deleted("resp_1"))
	for _, want := range []bool{true, false} {
		var first bool
		write(t, s, func(w *store.Write) (err error) {
			first, err = w.DeleteResponse(ctx, "resp_1", f.turn, at(1))
			return err
		})
		same(t, want, first)
		same(t, true, deleted("resp_1"))
	}
	same(t, false, deleted("resp_2"))
}
