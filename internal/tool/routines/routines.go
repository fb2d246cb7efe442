// Package routines holds the tools by which an agent keeps its routines:
// routine_create, routine_list, routine_update, routine_delete, routine_fire,
// routine_history and schedule_run_output; and report, by which a run says whether
// people should be told of it. Who keeps routines is handed in.
package routines

import (
	"context"
	"fmt"
	"time"

	"chela"
)

// A Change is what routine_update asks for. What is nil stays as it is.
type Change struct {
	Enabled     *bool
	Text        *string
	Description *string
	Schedule    *string // of the trigger's kind
	Zone        *string
	Pattern     *string
	Model       *string
	Notify      *chela.NotifyPolicy
	Target      *chela.NotifyTarget
}

// A Desk keeps routines. All fields are required; the functions may be called by
// several goroutines at once. A call names the request: the same one is carried out
// once.
type Desk struct {
	Create   func(ctx context.Context, r chela.Routine, call chela.ToolCall) (chela.Routine, error)
	Routines func(ctx context.Context) ([]chela.Routine, error)
	Named    func(ctx context.Context, name string) (chela.Routine, error)
	Update   func(ctx context.Context, id chela.RoutineID, c Change, call chela.ToolCall) (chela.Routine, error)
	Delete   func(ctx context.Context, id chela.RoutineID, call chela.ToolCall) error
	Fire     func(ctx context.Context, id chela.RoutineID, input string, call chela.ToolCall) (chela.RunID, error)
	Runs     func(ctx context.Context, id chela.RoutineID, limit int) ([]chela.RoutineRun, error)
	Run      func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)
	Report   func(ctx context.Context, turn chela.TurnID, r chela.Report) error

	// Zone is the owner's, in which times without one are read.
	Zone *time.Location
}

// Tools returns the tools.
func Tools(d Desk) []chela.Tool {
	return []chela.Tool{d.create(), d.list(), d.update(), d.delete(), d.fire(), d.history(), d.output(), d.report()}
}

// writing is the judgement of a call that changes rows of chela and may be run
// again with the same key.
func writing(preview, subject string) chela.Judgement {
	return chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: []string{subject}}
}

// sees reports whether a session may know of a routine: it was made there or, in
// the main session of an agent and in its own runs, it is one of the agent's.
func sees(c chela.ToolCall, r chela.Routine) bool {
	if r.Session != "" && r.Session == c.Session {
		return true
	}
	key, err := chela.ParseSessionKey(c.Session)
	return err == nil && r.Agent == c.Agent && (key.Kind == chela.KeyMain || key.Kind == chela.KeyCron)
}

// find returns a routine that the session of a call may know of. Others look as
// if they did not exist.
func (d Desk) find(ctx context.Context, c chela.ToolCall, name string) (chela.Routine, error) {
	r, err := d.Named(ctx, name)
	if err != nil && chela.KindOf(err) != chela.NotFound {
		return r, err
	}
	if err != nil || !sees(c, r) {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no routine %.60q", name)).WithHint("routine_list lists those that there are")
	}
	return r, err
}
