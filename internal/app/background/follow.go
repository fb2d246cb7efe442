package background

import (
	"context"
	"encoding/json"

	"chela"
	"chela/internal/store"
	"chela/internal/work"
)

// followed is how many looks are taken at once at what became of followed turns.
const followed = 4

// followKind is the work of looking what became of a followed turn, or how far
// whoever follows turns is.
func (b *Background) followKind() work.Kind {
	return work.Kind{
		Name: chela.WorkFollow, Attempts: work.Forever, Parallel: followed, Brief: true,
		Handle: func(ctx context.Context, k chela.Work) (work.Outcome, error) { return work.Outcome{}, b.follow(ctx, k) },
	}
}

func (b *Background) follow(ctx context.Context, k chela.Work) error {
	if done, err := b.jobs.Handle(ctx, k); done || err != nil {
		return err
	}
	var of struct {
		Turn chela.TurnID `json:"turn"`
	}
	if err := json.Unmarshal(k.Args, &of); err != nil {
		return chela.E(chela.Invalid, "work of following a turn cannot be read").Because(err)
	}
	t, err := store.Find(ctx, b.cfg.Store, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, of.Turn) })
	switch {
	case err != nil:
		return err
	case t.Origin.Channel == chela.ChannelJob:
		return b.jobs.Follow(ctx, t)
	case t.Origin.Channel == chela.ChannelRoutine:
		return b.routines.Follow(ctx, t)
	default:
		return nil
	}
}
