package background

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"chela"
	"chela/internal/notice"
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
	if err == nil {
		err = b.tellQuestions(ctx, t)
	}
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

// speaker names what a turn is of in notices: a routine by its name, a job by its title
// and its id. Other turns speak for nothing but themselves.
func speaker(ctx context.Context, r *store.Read, t chela.Turn) (string, error) {
	switch {
	case !t.Origin.Followed():
		return "", nil
	case t.Origin.Channel == chela.ChannelRoutine:
		v, err := r.Routine(ctx, chela.RoutineID(t.Origin.Account))
		return v.Name, err
	default:
		j, err := r.Job(ctx, chela.JobID(t.Origin.Account))
		return fmt.Sprintf("%s (%s)", j.Title, j.ID), err
	}
}

// maxShown is how much of what a call would do a notice shows, in bytes.
const maxShown = 300

// tellQuestions tells the owner what a turn asks that he does not see, once for
// each question: nothing goes on before it is answered. Those that were answered he is
// not told of any more.
func (b *Background) tellQuestions(ctx context.Context, t chela.Turn) error {
	var told []chela.Event
	err := b.cfg.Store.Write(ctx, "approval.tell", func(w *store.Write) error {
		told = nil
		asked, err := w.TurnApprovals(ctx, t.ID)
		if err != nil || len(asked) == 0 {
			return err
		}
		s, err := w.Session(ctx, t.Session)
		if err != nil {
			return err
		}
		from, err := speaker(ctx, &w.Read, t)
		if err != nil {
			return err
		}
		for _, a := range asked {
			key := "approval/" + string(a.ID)
			if a.State != chela.ApprovalPending {
				if err := b.notices.Drop(ctx, w, key); err != nil {
					return err
				}
				continue
			}
			preview := a.Preview
			if len(preview) > maxShown {
				preview = strings.ToValidUTF8(preview[:maxShown], "") + "… (chela approvals show " + string(a.ID) + " shows all of it)"
			}
			events, err := b.notices.Tell(ctx, w, notice.Notice{
				Key: key, Agent: s.Agent, Target: chela.TargetLast, From: cmp.Or(from, string(t.Session)),
				Text: fmt.Sprintf("asks whether it may use %s: %s\nanswer with chela approvals yes %s, or no", a.Tool, preview, a.ID),
			})
			if err != nil {
				return err
			}
			told = append(told, events...)
		}
		return nil
	})
	for _, e := range told {
		b.cfg.Emit(e)
	}
	return err
}
