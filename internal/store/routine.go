package store

// Routines, their runs, the causes of firings and the notes for sessions.

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

var routineTable = tableOf[chela.Routine]("routine", "routines", `
	id name description agent builtin enabled reason trigger_spec=Trigger action guards? notify?
	origin? session delete_after_run next_at last_at failures version created_at updated_at
	deleted_at trigger_kind=Trigger.Kind path=Trigger.Path`)

// Routine returns the routine with the given id, or NotFound. Deleted routines
// are included, marked as deleted.
func (r *Read) Routine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return routineTable.get(ctx, r.tx, id)
}

// RoutineNamed returns the routine with a name, and whether it exists and is
// not deleted.
func (r *Read) RoutineNamed(ctx context.Context, name string) (chela.Routine, bool, error) {
	return routineTable.first(ctx, r.tx, `where name = $1 and deleted_at = 0`, name)
}

// DeletedRoutine returns the routine with a name that was deleted last, and whether
// there is one.
func (r *Read) DeletedRoutine(ctx context.Context, name string) (chela.Routine, bool, error) {
	return routineTable.first(ctx, r.tx, `where name = $1 and deleted_at > 0 order by deleted_at desc, id desc limit 1`, name)
}

// RoutineAt returns the routine whose webhook is at a path, and whether it
// exists and is not deleted.
func (r *Read) RoutineAt(ctx context.Context, path string) (chela.Routine, bool, error) {
	return routineTable.first(ctx, r.tx, `where path = $1 and path <> '' and deleted_at = 0`, path)
}

// Routines returns up to limit routines after the given name, by name, without
// deleted ones.
func (r *Read) Routines(ctx context.Context, after string, limit int) ([]chela.Routine, error) {
	return routineTable.all(ctx, r.tx, `where name > $1 and deleted_at = 0 order by name limit cast($2 as bigint)`, after, limit)
}

// DueRoutines returns up to limit enabled routines with a next due time, in the
// order of that time.
func (r *Read) DueRoutines(ctx context.Context, limit int) ([]chela.Routine, error) {
	return routineTable.all(ctx, r.tx, `where next_at > 0 and enabled = 1 and deleted_at = 0 order by next_at limit cast($1 as bigint)`, limit)
}

// HearingRoutines returns the enabled routines with a trigger of the given
// kind, message or system event, by name.
func (r *Read) HearingRoutines(ctx context.Context, kind chela.TriggerKind) ([]chela.Routine, error) {
	return routineTable.all(ctx, r.tx, `where trigger_kind = $1 and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0 order by name`, kind)
}

// AddRoutine adds a routine. It returns Conflict if its id exists, or another
// routine has its name or path.
func (w *Write) AddRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	added, err := w.tx.Did(ctx, routineTable.insert+` on conflict do nothing`, routineTable.args(v)...)
	if err == nil && !added {
		err = routineNameTaken(v)
	}
	return err
}

var (
	saveRoutine = routineTable.update(`name description agent builtin enabled reason trigger_spec action guards notify origin session
		delete_after_run next_at last_at failures version updated_at deleted_at trigger_kind path`,
		"id = $1 and version = $2 - 1 and created_at = $3")
	advanceRoutine = routineTable.update("next_at last_at", "id = $1 and version = $2 and next_at = $3 and deleted_at = 0")
	judgeRoutine   = routineTable.update("failures enabled reason next_at deleted_at", "id = $1 and version = $2")
)

// SaveRoutine stores all of a routine except its creation time. V.Version must
// be the stored version plus one; it returns Conflict after a concurrent
// change.
func (w *Write) SaveRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	return saveRoutine.move(ctx, w.tx, v, v.ID, v.Version, v.CreatedAt)
}

func routineNameTaken(v chela.Routine) error {
	err := chela.E(chela.Conflict, "a routine named "+v.Name+" already exists")
	if v.Trigger.Path != "" {
		err = chela.E(chela.Conflict, "a routine named "+v.Name+" or at /hooks/"+v.Trigger.Path+" already exists")
	}
	return err.WithHint("choose another name, or change the existing routine")
}

// AdvanceRoutine stores the next and the last due time of a routine, provided
// from is still its due time; otherwise it returns Conflict.
func (w *Write) AdvanceRoutine(ctx context.Context, v chela.Routine, from time.Time) error {
	return advanceRoutine.move(ctx, w.tx, v, v.ID, v.Version, from)
}

// JudgeRoutine stores the consecutive failures of a routine and, if it was
// disabled, the reason. It returns Conflict after a concurrent change.
func (w *Write) JudgeRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	return judgeRoutine.move(ctx, w.tx, v, v.ID, v.Version)
}

// LockRoutine locks a routine until the transaction ends and returns it, or
// NotFound.
func (w *Write) LockRoutine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return routineTable.lock(ctx, w.tx, id, "version")
}

// A RoutineStamp identifies a version of the set of message-triggered routines.
type RoutineStamp struct {
	Count    int
	Versions int64
	Newest   time.Time
}

// HearingStamp returns the stamp of the enabled message-triggered routines.
func (r *Read) HearingStamp(ctx context.Context) (s RoutineStamp, err error) {
	err = r.tx.Query(ctx, func(row engine.Row) error { return row.Scan(&s.Count, &s.Versions, &s.Newest) },
		`select count(*), cast(coalesce(sum(version), 0) as bigint), coalesce(max(updated_at), 0) from routines
		where trigger_kind = 'event' and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0`)
	return s, err
}
