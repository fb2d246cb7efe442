package routine

import (
	"context"
	"fmt"

	"chela"
)

// nextGeneration returns the generation of what a turn makes or fires. It is
// Denied if that is too deep.
func (d *Routines) nextGeneration(turn chela.Origin) (int, error) {
	if turn.Generation >= d.cfg.MaxDepth {
		return 0, chela.Ef(chela.Denied, "%d nested jobs and routines led to this turn, the limit of jobs.depth", turn.Generation).
			WithHint("do the work in this turn, or tell a person what is left to do")
	}
	return turn.Generation + 1, nil
}

// tooDeep returns the reason for which a run that an event fires is skipped, or
// "".
func (d *Routines) tooDeep(run chela.RoutineRun) string {
	if run.Generation <= d.cfg.MaxDepth {
		return ""
	}
	return fmt.Sprintf("%d nested jobs and routines led to it, the limit of jobs.depth", run.Generation-1)
}

// jobGeneration returns the generation of the origin of a run's job, whose turns
// are those of the run.
func jobGeneration(run chela.RoutineRun) int { return max(0, run.Generation-1) }

// generationOf returns the generation of the run, job or turn that an event is
// about; 0 if there is none.
func (c *change) generationOf(ctx context.Context, e chela.Event) (n int, err error) {
	switch {
	case e.Run != "":
		run, wrong := c.RoutineRun(ctx, e.Run)
		n, err = run.Generation, wrong
	case e.Job != "":
		j, wrong := c.Job(ctx, e.Job)
		n, err = j.Origin.Generation, wrong
	case e.Turn != "":
		t, wrong := c.Turn(ctx, e.Turn)
		n, err = t.Origin.Generation, wrong
	}
	if chela.KindOf(err) == chela.NotFound {
		return 0, nil
	}
	return n, err
}
