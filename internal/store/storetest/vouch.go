package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkVouches: vouches are kept whole and come in pages, newest first.
func checkVouches(t *testing.T, s *store.Store) {
	ctx := t.Context()
	page := func(before chela.VouchID, limit int) []chela.Vouch {
		t.Helper()
		return read(t, s, func(r *store.Read) ([]chela.Vouch, error) { return r.Vouches(ctx, before, limit) })
	}
	same(t, nil, page("", 10))
	var all []chela.Vouch
	for _, id := range []chela.VouchID{"vch_3", "vch_2", "vch_1"} {
		all = append(all, chela.Vouch{
			ID: id, Kind: chela.TextFile, Agent: "main", Name: "in/" + string(id), Version: "v", By: "cli",
			Provenance: chela.Provenance{Integrity: chela.IntegrityOutside, Source: "page", Privacy: chela.PrivacyPrivate},
			At:         time.UnixMicro(1_700_000_000_000_001).UTC(),
		})
	}
	for _, v := range all {
		write(t, s, func(w *store.Write) error { return w.AddVouch(ctx, v) })
	}
	same(t, all, page("", 10))
	same(t, all[:2], page("", 2))
	same(t, all[2:], page("vch_2", 10))
	same(t, all[1], read(t, s, func(r *store.Read) (chela.Vouch, error) { return r.Vouch(ctx, "vch_2") }))
	missing := s.Read(ctx, func(r *store.Read) error {
		_, err := r.Vouch(ctx, "vch_9")
		return err
	})
	if chela.KindOf(missing) != chela.NotFound {
		t.Errorf("a vouch that does not exist gives %v", missing)
	}
}
