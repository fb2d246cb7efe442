package notice

import (
	"cmp"
	"context"
	"fmt"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

// JobEnded pushes that a job finished or failed, within the transaction that ends it.
// Jobs of routines, parts and subagents are reported by others, and a cancelled one
// was ended by a person.
func (d *Notices) JobEnded(ctx context.Context, w *store.Write, j chela.Job) error {
	how := map[chela.JobState]string{chela.JobCompleted: "finished", chela.JobFailed: "failed"}[j.State]
	if how == "" || j.Kind != chela.JobPlain || j.Run != "" || j.Origin.Followed() {
		return nil
	}
	title, err := titleOf(ctx, &w.Read, j)
	if err != nil {
		return err
	}
	text := excerpt.Bytes(cmp.Or(j.Reason, j.Result), maxShown)
	return d.Push(ctx, w, Notice{
		Key: fmt.Sprintf("job/%s/%d", j.ID, j.Attempt), Agent: j.Agent, Kind: chela.NoticeJob, Title: how + ": " + title, Watch: j.Requester,
		From: fmt.Sprintf("%s (%s)", j.Title, j.ID), Text: how + ": " + text,
	})
}

// TellTurn notifies the owner of the questions of a turn, and of a limit that ended it.
func (d *Notices) TellTurn(ctx context.Context, t chela.Turn) error {
	if t.State != chela.TurnLimited || t.Origin.Followed() || t.Failure == nil {
		return d.tellQuestions(ctx, t)
	}
	return d.store.Write(ctx, "limit.tell", func(w *store.Write) error {
		s, err := w.Session(ctx, t.Session)
		if err != nil {
			return err
		}
		return d.Push(ctx, w, Notice{
			Key: "limit/" + string(t.ID), Agent: s.Agent, Kind: chela.NoticeLimit, Watch: t.Session, From: nameOf(t.Session),
			Title: fmt.Sprintf("%s in %s", t.Failure.Limit, nameOf(t.Session)), Text: t.Failure.Message,
		})
	})
}
