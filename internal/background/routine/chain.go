package routine

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store"
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
func (c *change) tooDeep(run chela.RoutineRun) string {
	if run.Generation <= c.cfg.MaxDepth {
		return ""
	}
	return fmt.Sprintf("%d nested jobs and routines led to it, the limit of jobs.depth", run.Generation-1)
}

// jobGeneration returns the generation of the origin of a run's job, whose turns
// are those of the run.
func jobGeneration(run chela.RoutineRun) int { return max(0, run.Generation-1) }

// causeOf returns the generation of the run, job or turn that an event is about, 0 if
// there is none, and whether the event comes from a turn or a job that a routine's run
// began: two routines could otherwise fire each other forever. Events about the run
// itself may fire other routines.
func (c *change) causeOf(ctx context.Context, e chela.Event) (generation int, own bool, err error) {
	run, err := store.IfFound(c.RoutineRun(ctx, e.Run))
	if err != nil {
		return 0, false, err
	}
	j, err := store.IfFound(c.Job(ctx, e.Job))
	if err != nil {
		return 0, false, err
	}
	t, err := store.IfFound(c.Turn(ctx, e.Turn))
	switch {
	case e.Run != "":
		generation = run.Generation
	case e.Job != "":
		generation = j.Origin.Generation
	default:
		generation = t.Origin.Generation
	}
	return generation, e.Routine == "" && (j.Run != "" || t.Origin.FollowedBy(chela.ChannelRoutine)), err
}
