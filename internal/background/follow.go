package background

import (
	"context"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// followed is how many followed turns are checked concurrently.
const followed = 4

// followKind is the work of checking the outcome of a followed turn, or the
// progress of its follower.
func (b *Background) followKind() work.Kind {
	return work.Kind{
		Name: chela.WorkFollow, Attempts: work.Forever, Parallel: followed, Brief: true,
		Handle: b.follow,
	}
}

func (b *Background) follow(ctx context.Context, k chela.Work) (out work.Outcome, _ error) {
	of, err := work.ArgsOf[struct {
		Turn chela.TurnID
		Job  chela.JobID
	}](k)
	if err != nil {
		return out, err
	}
	if of.Job != "" {
		return out, b.jobs.Look(ctx, of.Job)
	}
	t, err := store.Get(ctx, b.cfg.Store, (*store.Read).Turn, of.Turn)
	if err == nil {
		err = b.notices.TellTurn(ctx, t)
	}
	switch {
	case err != nil:
		return out, err
	case t.Origin.Channel == chela.ChannelJob:
		return out, b.jobs.Look(ctx, chela.JobID(t.Origin.Account))
	case t.Origin.Channel == chela.ChannelRoutine:
		return out, b.routines.Follow(ctx, t)
	default:
		return out, nil
	}
}
