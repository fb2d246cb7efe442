package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
)

// maxSteps and maxStep bound a plan.
const (
	maxSteps = 100
	maxStep  = 2_000 // bytes of a step, and of its note
)

// goesOn returns Conflict if a job has ended and can no longer be planned.
func goesOn(j chela.Job) error {
	if j.State.Live() {
		return nil
	}
	return notNow(j)
}

// Plan replaces the plan of a job. Steps whose text is unchanged keep their
// state.
func (d *Jobs) Plan(ctx context.Context, id chela.JobID, steps []string) error {
	if len(steps) > maxSteps {
		return chela.Ef(chela.Invalid, "%d steps are too many", len(steps)).WithHint(fmt.Sprintf("write at most %d", maxSteps))
	}
	for _, text := range steps {
		if strings.TrimSpace(text) == "" || len(text) > maxStep {
			return chela.E(chela.Invalid, "a step of the plan is empty or too long").WithHint(fmt.Sprintf("describe each step in up to %d bytes", maxStep))
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
		if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobPlanned, By: string(j.Session), Text: plannedText(plan)}); err != nil {
			return err
		}
		return a.announce(ctx, *j, chela.EventJobOutput, fmt.Sprintf("planned %d steps", len(plan)))
	})
	return err
}

// Step updates the state and note of a step; Place selects it. It returns
// NotFound if the plan has no such step.
func (d *Jobs) Step(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	if err := api.OneOf(s.State, "is not a state of a step"); err != nil {
		return err
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
			return chela.Ef(chela.NotFound, "the plan has no step %d", s.Place).WithHint(fmt.Sprintf("it has %d steps", len(steps)))
		}
		before, now := steps[s.Place-1], steps[s.Place-1]
		now.State, now.Note = s.State, cmp.Or(CutText(s.Note, maxStep), before.Note)
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

// Parts splits a job in progress: each text becomes a part in a session of its
// own. The job continues after all have ended, and receives their endings. Key
// makes the call idempotent.
func (d *Jobs) Parts(ctx context.Context, id chela.JobID, key string, texts []string) (parts []chela.Job, err error) {
	_, err = d.change(ctx, "job.parts", id, func(a *act, j *chela.Job) error {
		parts = nil
		if err := goesOn(*j); err != nil {
			return err
		}
		if j.Kind == chela.JobPart {
			return chela.E(chela.Unsupported, "a part cannot be split").WithHint("do the work in this part")
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
			return chela.Ef(chela.Exhausted, "the job has %d parts, and the limit is %d", place, most).WithHint("do the rest in this job")
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

// split builds parts of a job, numbered from place on.
func (a *act) split(j chela.Job, place int, texts []string) (parts []chela.Job, err error) {
	for i, text := range texts {
		if _, err := a.complete(CreateRequest{Agent: j.Agent, Text: text, Parts: texts}); err != nil {
			return nil, err
		}
		parts = append(parts, a.part(j, text, place+i))
	}
	return parts, nil
}
