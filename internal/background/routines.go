package background

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/background/job"
	"chela/internal/background/notice"
	"chela/internal/background/routine"
	"chela/internal/background/routine/rule"
	"chela/internal/engine/lane"
	"chela/internal/store"
)

// newRoutines returns the routines of the home.
func (b *Background) newRoutines() *routine.Desk {
	set := b.cfg.Settings
	r := set.Routines
	return routine.New(b.cfg.Store, routine.Config{
		IDs: b.cfg.IDs, Now: b.cfg.Now, Zone: set.Zone(), Emit: b.cfg.Emit, Log: b.cfg.Log, Work: b.work, Notices: b.notices,
		Defaults: routine.Defaults{
			Off: !r.Enabled, Missed: r.Missed, Cooldown: r.Cooldown, Timeout: r.Timeout, Most: set.Lanes.Cron, KeepRuns: r.KeepRuns,
			NotifyAfter: r.NotifyAfter, DisableAfter: r.DisableAfter, MaxWebhookBytes: r.MaxWebhookBytes,
		},
		Submit: func(ctx context.Context, in chela.Inbound) error {
			_, err := b.cfg.Lanes.Submit(ctx, in)
			return err
		},
		Job: b.jobOf,
		Agent: func(name string) error {
			_, err := set.Agent(name)
			return err
		},
		Secret: set.Secret,
	})
}

// jobOf builds the job of a run, whose end is the end of the run: only the run
// is notified of it.
func (b *Background) jobOf(ctx context.Context, v chela.Routine, run chela.RoutineRun, text string) (chela.JobID, error) {
	origin, err := store.Find(ctx, b.cfg.Store, func(r *store.Read) (chela.Origin, error) {
		return notice.Place(ctx, r, v)
	})
	if err != nil {
		return "", err
	}
	origin.Owner = rule.Trusted(v, run)
	origin = origin.ActingFor(v.Principal())
	origin.Provenance = rule.Provenance(v, run)
	a := v.Action
	j, err := b.jobs.Create(ctx, job.Order{
		Key: "run/" + string(run.ID), Kind: chela.JobPlain, Agent: v.Agent, Title: cmp.Or(a.Title, v.Name), Text: text, By: "routine " + v.Name,
		Priority: a.Priority, Origin: origin, Run: run.ID,
		Options: chela.JobOptions{Model: a.Model, Thinking: a.Thinking, Steps: a.Steps, Timeout: a.Timeout, Plan: a.Plan, Quiet: true},
	})
	return j.ID, err
}

// Hears returns the hook that fires routines triggered by a message, in the
// transaction that accepts the message; nil if there are none.
func (b *Background) Hears(ctx context.Context, in chela.Inbound) (lane.Also, error) {
	return b.routines.Hears(ctx, in)
}
