package store

import (
	"context"

	"chela"
)

var vouchTable = tableOf[chela.Vouch]("vouch", "vouches", `id kind agent name text_version=Version provenance? vouched_by=By at`)

// Vouches returns up to limit vouches before one of them, newest first; an empty id
// begins with the newest.
func (r *Read) Vouches(ctx context.Context, before chela.VouchID, limit int) ([]chela.Vouch, error) {
	return vouchTable.all(ctx, r.tx, `where $1 = '' or id < $1 order by id desc limit cast($2 as bigint)`, before, limit)
}

// Vouch returns a vouch, or NotFound.
func (r *Read) Vouch(ctx context.Context, id chela.VouchID) (chela.Vouch, error) {
	return vouchTable.one(ctx, r.tx, id, vouchTable.selects+`where id = $1`, id)
}

// AddVouch records a vouch.
func (w *Write) AddVouch(ctx context.Context, v chela.Vouch) error {
	return vouchTable.add(ctx, w.tx, v)
}
