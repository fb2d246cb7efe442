package background

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/config"
	"chela/internal/store"
)

// overdue is how long work may be due before it counts as unattended.
const overdue = 5 * time.Minute

// Examine diagnoses the background work of a home: routines that cannot fire or
// succeed, jobs that wait for a person, and unattended work. It changes
// nothing.
func Examine(ctx context.Context, s *store.Store, cfg *config.Config, now time.Time) (found []api.Finding, err error) {
	err = s.Read(ctx, func(r *store.Read) error {
		routines, err := routine.All(ctx, r)
		if err != nil {
			return err
		}
		live, err := r.CountLive(ctx)
		if err != nil {
			return err
		}
		next, err := r.NextWork(ctx)
		found = append(examineRoutines(routines, cfg), examineJobs(live))
		if late := lateWork(next, now); late.Text != "" {
			found = append(found, late)
		}
		return err
	})
	return found, err
}

// examineRoutines returns findings about routines; at least one.
func examineRoutines(all []chela.Routine, cfg *config.Config) (found []api.Finding) {
	own := 0
	for _, v := range all {
		if !v.Builtin {
			own++
		}
		if f := examineRoutine(v, cfg); f.Text != "" {
			found = append(found, f)
		}
	}
	if own > 0 && !cfg.Routines.Enabled {
		found = append(found, api.Finding{
			Subject: "routines", Text: fmt.Sprintf("routines.enabled is false: %d fire only manually", own),
			Cure: "chela config set routines.enabled true",
		})
	}
	if len(found) == 0 {
		found = []api.Finding{{Subject: "routines", OK: true, Text: fmt.Sprintf("%d, all of them valid", own)}}
	}
	return found
}

// examineRoutine returns the problem of a routine, or a finding without a text.
func examineRoutine(v chela.Routine, cfg *config.Config) api.Finding {
	f := api.Finding{Subject: "routines"}
	if !v.Enabled {
		if v.Reason != "" && !v.Builtin {
			f.Text, f.Cure = v.Name+" is off: "+v.Reason, "fix that, then chela routines enable "+v.Name
		}
		return f
	}
	if _, err := cfg.Agent(v.Agent); err != nil {
		f.Text = v.Name + " is of the agent " + v.Agent + ", which no longer exists"
		f.Cure = "add [agents." + v.Agent + "] to config.toml, or chela routines delete " + v.Name
		return f
	}
	if v.Action.Model != "" {
		if _, _, err := cfg.Resolve(v.Action.Model); err != nil {
			f.Text, f.Cure = v.Name+" asks "+v.Action.Model+": "+chela.MessageOf(err), "chela routines edit "+v.Name+" --model PROVIDER/MODEL"
			return f
		}
	}
	if v.Trigger.Kind == chela.TriggerWebhook {
		if _, err := cfg.Secret(v.Trigger.Secret); err != nil {
			f.Text, f.Cure = v.Name+" has no secret: "+chela.MessageOf(err), "set it, or chela routines edit "+v.Name+" --secret env:NAME"
		}
	}
	return f
}

// examineJobs returns a finding about the unfinished jobs.
func examineJobs(live map[chela.JobState]int) api.Finding {
	f := api.Finding{Subject: "jobs", OK: true, Text: "none waits for a person"}
	if n := live[chela.JobAwaiting]; n > 0 {
		f.Text, f.Cure = fmt.Sprintf("%d of them waiting for a person", n), "chela approvals list shows what they ask"
	}
	return f
}

// lateWork returns a finding about the work that is overdue the longest, or one
// without a text if none is.
func lateWork(next map[string]time.Time, now time.Time) api.Finding {
	var first time.Time
	for _, due := range next {
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	waited := now.Sub(first).Truncate(time.Second)
	if first.IsZero() || waited < overdue {
		return api.Finding{}
	}
	return api.Finding{
		Subject: "work", Text: fmt.Sprintf("jobs or routines have waited for %s, and no process performs them", waited),
		Cure: "chela serve does, or the chat while it is open",
	}
}
