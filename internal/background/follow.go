package background

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"chela"
	"chela/internal/background/notice"
	"chela/internal/background/work"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

// followed is how many followed turns are checked concurrently.
const followed = 4

// followKind is the work of checking the outcome of a followed turn, or the
// progress of its follower.
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

// speaker names the source of a turn in notices: a routine by its name, a job
// by its title and its id. Other turns have no source.
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

// maxShown limits the text of a call in a notice, in bytes.
const maxShown = 300

// always describes how to answer "always" to a question, and the scope of that
// answer.
func always(a chela.Approval) string {
	if a.Always() == "" {
		return ""
	}
	return fmt.Sprintf(" (with --always for %s)", a.Always())
}

// tellQuestions notifies the owner of the questions of a turn that he does not
// see, once for each question: the turn is blocked until they are answered.
// Answered questions are skipped.
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
			preview := excerpt.Page(a.Preview, maxShown, "chela approvals show "+string(a.ID))
			events, err := b.notices.Tell(ctx, w, notice.Notice{
				Key: key, Agent: s.Agent, Target: chela.TargetLast, From: cmp.Or(from, string(t.Session)),
				Text: fmt.Sprintf("asks whether it may use %s: %s\nanswer with chela approvals yes %s%s, or no", a.Tool, preview, a.ID, always(a)),
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
