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

// RoutineAPI is the interface to the routines. All fields are required; the functions
// are safe for concurrent use. Requests are keyed by the call: a repeated one
// is executed once.
type RoutineAPI struct {
	Create   func(ctx context.Context, r chela.Routine, call chela.ToolCall) (chela.Routine, error)
	Routines func(ctx context.Context) ([]chela.Routine, error)
	Named    func(ctx context.Context, name string) (chela.Routine, error)
	Update   func(ctx context.Context, id chela.RoutineID, c RoutineChange, call chela.ToolCall) (chela.Routine, error)
	Delete   func(ctx context.Context, id chela.RoutineID, call chela.ToolCall) error
	Fire     func(ctx context.Context, id chela.RoutineID, input string, call chela.ToolCall) (chela.RunID, error)
	Runs     func(ctx context.Context, id chela.RoutineID, limit int) ([]chela.RoutineRun, error)
	Run      func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)
	Report   func(ctx context.Context, turn chela.TurnID, r chela.Report) error

	// Zone is the owner's time zone; times without a zone are read in it.
	Zone *time.Location
}

// RoutineTools returns the tools.
func RoutineTools(d RoutineAPI) []chela.Tool {
	return []chela.Tool{d.create(), d.list(), d.update(), d.delete(), d.fire(), d.history(), d.output(), d.report()}
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
func (d RoutineAPI) find(ctx context.Context, c chela.ToolCall, name string) (chela.Routine, error) {
	r, err := d.Named(ctx, name)
	if err != nil && chela.KindOf(err) != chela.NotFound {
		return r, err
	}
	if err != nil || !seesRoutine(c, r) {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no routine %.60q", name)).WithHint("routine_list lists those that there are")
	}
	return r, err
}
