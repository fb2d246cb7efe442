package job

import (
	"context"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

const (
	maxAct    = 200 // characters of an act that are shown
	maxRecent = 8   // acts shown with a job
)

// activities tell what a turn is doing.
type activities interface {
	// Of returns the activity of a turn. For a turn that this process knows nothing
	// of, runs tells whether some process runs it.
	Of(t chela.Turn, runs bool) chela.Activity
}

// acts returns a page of the acts of a job's newest attempt.
func (d *Jobs) acts(ctx context.Context, _ api.Caller, q api.JobActsQuery) (api.Page[api.JobAct], error) {
	return store.Find(ctx, d.store, func(r *store.Read) (page api.Page[api.JobAct], err error) {
		page.Items = []api.JobAct{}
		j, err := r.Job(ctx, q.ID)
		if err != nil || j.Thread == "" {
			return page, err
		}
		var after int64
		if q.After != "" {
			e, err := store.IfFound(r.Entry(ctx, q.After))
			if err != nil {
				return page, err
			}
			if e.Thread == j.Thread {
				after = e.Seq
			}
		}
		limit := api.Rows(q.Limit)
		entries, err := r.Entries(ctx, j.Thread, after, limit+1)
		if len(entries) > limit {
			entries = entries[:limit]
			page.Next = string(entries[limit-1].ID)
		}
		for _, e := range entries {
			page.Items = append(page.Items, actsOf(e)...)
		}
		return page, err
	})
}

// progress fills in how far the newest turn of a job is.
func (d *Jobs) progress(ctx context.Context, r *store.Read, v *api.Job) error {
	if v.Turn == "" || v.Thread == "" {
		return nil
	}
	t, err := store.IfFound(r.Turn(ctx, v.Turn))
	if err != nil {
		return err
	}
	v.Answers = t.Steps
	if !t.State.Ended() {
		l, err := r.Lane(ctx, t.Session)
		if err != nil {
			return err
		}
		v.Activity = d.cfg.Activity.Of(t, l.Owner != "" && l.Turn == t.ID)
	}
	thread, err := r.Thread(ctx, v.Thread)
	if err != nil {
		return err
	}
	entries, err := r.Entries(ctx, v.Thread, max(0, thread.Seq-maxRecent), maxRecent)
	for _, e := range entries {
		v.Recent = append(v.Recent, actsOf(e)...)
	}
	v.Recent = v.Recent[max(0, len(v.Recent)-maxRecent):]
	return err
}

// actsOf returns the acts in an entry.
func actsOf(e chela.Entry) (acts []api.JobAct) {
	act := api.JobAct{Entry: e.ID, Turn: e.Turn, At: e.CreatedAt}
	switch b := e.Body.(type) {
	case chela.AnswerBody:
		if text := brief(b.Text); text != "" && !b.Hidden {
			act.Kind, act.Text = api.ActSaid, text
			acts = append(acts, act)
		}
		for _, c := range b.Calls {
			act.Kind, act.Tool, act.Text = api.ActCalled, c.Tool, brief(excerpt.Arguments(string(c.Args)+c.Raw))
			acts = append(acts, act)
		}
	case chela.ResultBody:
		act.Kind, act.Tool, act.State, act.Text = api.ActEnded, b.Tool, b.Status, brief(b.Text)
		acts = append(acts, act)
	}
	return acts
}

// brief returns the beginning of a text on one line.
func brief(text string) string {
	return excerpt.Runes(strings.Join(strings.Fields(excerpt.Bytes(text, 4*maxAct)), " "), maxAct)
}
