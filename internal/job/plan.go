package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/job/wording"
)

// maxSteps and maxStep bound a plan.
const (
	maxSteps = 100
	maxStep  = 2_000 // bytes of a step, and of what came of it
)

// goesOn refuses what only a job that goes on can say of itself.
func goesOn(j chela.Job) error {
	if j.State.Live() {
		return nil
	}
	return wording.NotNow(j)
}

// Plan puts steps in the place of a job's plan. Those that were there with the same
// text keep their state.
func (d *Desk) Plan(ctx context.Context, id chela.JobID, steps []string) error {
	if len(steps) > maxSteps {
		return chela.E(chela.Invalid, fmt.Sprintf("%d steps are too many", len(steps))).WithHint(fmt.Sprintf("write at most %d", maxSteps))
	}
	for _, text := range steps {
		if strings.TrimSpace(text) == "" || len(text) > maxStep {
			return chela.E(chela.Invalid, "that is no step of a plan").WithHint(fmt.Sprintf("write what is to be done, in up to %d bytes", maxStep))
		}
	}
	_, err := d.change(ctx, "job.plan", id, func(a *act, j *chela.Job) error {
		if err := goesOn(*j); err != nil {
			return err
		}
		before, err := a.w.JobSteps(ctx, id)
		if err != nil {
			return err
		}
		plan := make([]chela.JobStep, len(steps))
		for i, text := range steps {
			plan[i] = chela.JobStep{Text: text, State: chela.StepPending}
			if k := slices.IndexFunc(before, func(s chela.JobStep) bool { return s.Text == text }); k >= 0 {
				plan[i] = before[k]
			}
			plan[i].Place = i + 1
		}
		if slices.Equal(plan, before) {
			return nil
		}
		if err := a.w.PlanJob(ctx, id, plan); err != nil {
			return err
		}
		if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobPlanned, By: string(j.Session), Text: wording.Planned(plan)}); err != nil {
			return err
		}
		return a.announce(ctx, *j, chela.EventJobOutput, fmt.Sprintf("planned %d steps", len(plan)))
	})
	return err
}

// Step says how far a step of a job's plan is, and what came of it: Place, State and
// Note matter. A step that is not in the plan is NotFound.
func (d *Desk) Step(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	if !slices.Contains([]chela.StepState{chela.StepPending, chela.StepInProgress, chela.StepDone, chela.StepSkipped}, s.State) {
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no state of a step", s.State)).WithHint("use pending, in_progress, done or skipped")
	}
	_, err := d.change(ctx, "job.step", id, func(a *act, j *chela.Job) error {
		if err := goesOn(*j); err != nil {
			return err
		}
		steps, err := a.w.JobSteps(ctx, id)
		if err != nil {
			return err
		}
		if s.Place < 1 || s.Place > len(steps) {
			return chela.E(chela.NotFound, fmt.Sprintf("the plan has no step %d", s.Place)).WithHint(fmt.Sprintf("it has %d", len(steps)))
		}
		before, now := steps[s.Place-1], steps[s.Place-1]
		now.State, now.Note = s.State, cmp.Or(wording.Cut(s.Note, maxStep), before.Note)
		if now == before {
			return nil
		}
		if err := a.w.MoveStep(ctx, id, now); err != nil {
			return err
		}
		e := chela.JobEvent{Kind: chela.JobStepped, Step: s.Place, By: string(j.Session), Text: strings.TrimSpace(string(s.State) + " " + s.Note)}
		if err := a.note(ctx, j, e); err != nil {
			return err
		}
		return a.announce(ctx, *j, chela.EventJobOutput, fmt.Sprintf("step %d is %s", s.Place, s.State))
	})
	return err
}

// Parts splits a job that is under way: each text is what a part is to do, in a
// session of its own. It goes on once they have ended, and is told how. Key names
// the request, which is carried out once.
func (d *Desk) Parts(ctx context.Context, id chela.JobID, key string, texts []string) (parts []chela.Job, err error) {
	_, err = d.change(ctx, "job.parts", id, func(a *act, j *chela.Job) error {
		parts = nil
		if err := goesOn(*j); err != nil {
			return err
		}
		if j.Kind == chela.JobPart {
			return chela.E(chela.Unsupported, "a part has no parts").WithHint("do it here")
		}
		asked, err := a.w.JobsAskedBy(ctx, j.Session)
		if err != nil {
			return err
		}
		place := 0
		for _, p := range asked {
			if !isPart(p) {
				continue
			}
			if strings.HasPrefix(p.Key, partKey(id, key)) {
				parts = append(parts, p)
			}
			place = max(place, p.Place+1)
		}
		if len(parts) > 0 {
			return nil
		}
		if most := d.cfg.MaxParts; place+len(texts) > most {
			return chela.E(chela.Exhausted, fmt.Sprintf("the job has %d parts, and may have %d in all", place, most)).WithHint("do the rest here")
		}
		parts, err = a.split(*j, place, texts)
		for i := range parts {
			parts[i].Key = fmt.Sprint(partKey(id, key), i)
			if err := a.put(ctx, &parts[i], string(j.Session)); err != nil {
				return err
			}
		}
		if err == nil {
			err = a.dispatch(ctx, chela.ClassJob, true)
		}
		return err
	})
	return parts, err
}

func partKey(id chela.JobID, key string) string { return fmt.Sprintf("%s/part/%s/", id, key) }

// split returns parts of a job, from a place on.
func (a *act) split(j chela.Job, place int, texts []string) (parts []chela.Job, err error) {
	for i, text := range texts {
		if _, err := a.complete(Order{Agent: j.Agent, Text: text, Parts: texts}); err != nil {
			return nil, err
		}
		parts = append(parts, a.part(j, text, place+i))
	}
	return parts, nil
}
