package self

// This part of the package holds the tools for an agent's routines:
// routine_create, routine_list, routine_update, routine_delete, routine_fire,
// routine_history and schedule_run_output; and report, which decides whether
// people are notified of a run. Access to the routines is injected.

import (
	"context"
	"fmt"
	"time"

	"chela"
)

// A RoutineChange is the request of routine_update. Nil fields stay unchanged.
type RoutineChange struct {
	Enabled     *bool
	Text        *string
	Description *string
	Schedule    *string // in the format of the trigger's kind
	Zone        *string
	Pattern     *string
	Model       *string
	Notify      *chela.NotifyPolicy
	Target      *chela.NotifyTarget
}

// routines stores the routines of the home. It is safe for concurrent use. Requests of
// a call are keyed by it: a repeated one is executed once.
type routines interface {
	All(ctx context.Context) ([]chela.Routine, error)
	// Routine returns a routine by its id or name, or NotFound.
	Routine(ctx context.Context, idOrName string) (chela.Routine, error)
	// Runs returns up to limit runs of a routine made before another one, newest
	// first; before may be empty.
	Runs(ctx context.Context, id chela.RoutineID, before chela.RunID, limit int) ([]chela.RoutineRun, error)
	Run(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)

	CreateFor(ctx context.Context, call chela.ToolCall, r chela.Routine) (chela.Routine, error)
	UpdateFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID, c RoutineChange) (chela.Routine, error)
	DeleteFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID) error
	FireFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID, input string) (chela.RunID, error)
}

// routineTools are the tools on the routines of the home.
type routineTools struct {
	of   func() routines
	zone *time.Location
}

// RoutineTools returns the tools. The routines are looked up on each call, and times
// without a zone are in the zone of the owner.
func RoutineTools[R routines](of func() R, zone *time.Location) []chela.Tool {
	d := routineTools{func() routines { return of() }, zone}
	return []chela.Tool{d.create(), d.list(), d.update(), d.delete(), d.fire(), d.history(), d.output()}
}

// routineWriting is the judgement of a call that changes rows of chela's store and may
// be repeated with the same key.
func routineWriting(preview, subject string) chela.Judgement {
	return chela.Judgement{
		Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: []string{subject}, Power: chela.PowerStanding,
	}
}

// seesRoutine reports whether a session may see a routine: the routine was created
// there or, in the main session of an agent and in its own runs, belongs to the
// agent.
func seesRoutine(c chela.ToolCall, r chela.Routine) bool {
	if r.Session != "" && r.Session == c.Session {
		return true
	}
	key, err := chela.ParseSessionKey(c.Session)
	return err == nil && r.Agent == c.Agent && (key.Kind == chela.KeyMain || key.Kind == chela.KeyCron)
}

// find returns a routine that the session of a call may see. Others are
// NotFound, as if they did not exist.
func (d routineTools) find(ctx context.Context, c chela.ToolCall, name string) (chela.Routine, error) {
	r, err := d.of().Routine(ctx, name)
	if err != nil && chela.KindOf(err) != chela.NotFound {
		return r, err
	}
	if err != nil || !seesRoutine(c, r) {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no routine %.60q", name)).WithHint("routine_list lists those that there are")
	}
	return r, err
}
