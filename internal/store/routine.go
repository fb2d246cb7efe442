package store

// Routines, their runs, the causes of firings and the notes for sessions.

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

var routineTable = tableOf("routines", func(v *chela.Routine) []column {
	return []column{
		{"id", &v.ID},
		{"name", &v.Name},
		{"description", &v.Description},
		{"agent", &v.Agent},
		{"builtin", &v.Builtin},
		{"enabled", &v.Enabled},
		{"reason", &v.Reason},
		{"trigger_spec", jsonField(&v.Trigger)},
		{"action", jsonField(&v.Action)},
		{"guards", optionalJSON(&v.Guards)},
		{"notify", optionalJSON(&v.Notify)},
		{"origin", optionalJSON(&v.Origin)},
		{"session", &v.Session},
		{"delete_after_run", &v.DeleteAfterRun},
		{"next_at", &v.NextAt},
		{"last_at", &v.LastAt},
		{"failures", &v.Failures},
		{"version", &v.Version},
		{"created_at", &v.CreatedAt},
		{"updated_at", &v.UpdatedAt},
		{"deleted_at", &v.DeletedAt},
	}
})

// Routine returns the routine with the given id, or NotFound. Deleted routines
// are included, marked as deleted.
func (r *Read) Routine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return queryOne(ctx, r.tx, routineTable.scan, "routine", string(id),
		`select `+routineTable.columns+` from routines where id = $1`, string(id))
}

// RoutineNamed returns the routine with a name, and whether it exists and is
// not deleted.
func (r *Read) RoutineNamed(ctx context.Context, name string) (chela.Routine, bool, error) {
	return queryFirst(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where name = $1 and deleted_at = 0`, name)
}

// DeletedRoutine returns the routine with a name that was deleted last, and whether
// there is one.
func (r *Read) DeletedRoutine(ctx context.Context, name string) (chela.Routine, bool, error) {
	return queryFirst(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where name = $1 and deleted_at > 0 order by deleted_at desc, id desc limit 1`, name)
}

// RoutineAt returns the routine whose webhook is at a path, and whether it
// exists and is not deleted.
func (r *Read) RoutineAt(ctx context.Context, path string) (chela.Routine, bool, error) {
	return queryFirst(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where path = $1 and path <> '' and deleted_at = 0`, path)
}

// Routines returns up to limit routines after the given name, by name, without
// deleted ones.
func (r *Read) Routines(ctx context.Context, after string, limit int) ([]chela.Routine, error) {
	return queryAll(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where name > $1 and deleted_at = 0 order by name limit cast($2 as bigint)`, after, limit)
}

// DueRoutines returns up to limit enabled routines with a next due time, in the
// order of that time.
func (r *Read) DueRoutines(ctx context.Context, limit int) ([]chela.Routine, error) {
	return queryAll(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where next_at > 0 and enabled = 1 and deleted_at = 0 order by next_at limit cast($1 as bigint)`, limit)
}

// HearingRoutines returns the enabled routines with a trigger of the given
// kind, message or system event, by name.
func (r *Read) HearingRoutines(ctx context.Context, kind chela.TriggerKind) ([]chela.Routine, error) {
	return queryAll(ctx, r.tx, routineTable.scan, `select `+routineTable.columns+` from routines
		where trigger_kind = $1 and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0 order by name`, string(kind))
}

// AddRoutine adds a routine. It returns Conflict if its id exists, or another
// routine has its name or path.
func (w *Write) AddRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	n, err := w.tx.Exec(ctx, `insert into routines (`+routineTable.names+`, trigger_kind, path)
		values (`+routineTable.marks+`, $22, $23) on conflict do nothing`, routineArgs(v)...)
	if err == nil && n == 0 {
		err = routineNameTaken(v)
	}
	return err
}

// SaveRoutine stores all of a routine except its creation time. V.Version must
// be the stored version plus one; it returns Conflict after a concurrent
// change.
func (w *Write) SaveRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set name = $2, description = $3, agent = $4, builtin = $5, enabled = $6,
		reason = $7, trigger_spec = $8, action = $9, guards = $10, notify = $11, origin = $12, session = $13, delete_after_run = $14,
		next_at = $15, last_at = $16, failures = $17, version = $18, updated_at = $20, deleted_at = $21, trigger_kind = $22, path = $23
		where id = $1 and version = $18 - 1 and created_at = $19`, routineArgs(v)...)
}

func routineArgs(v chela.Routine) []any {
	return append(routineTable.args(v), string(v.Trigger.Kind), v.Trigger.Path)
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
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set next_at = $2, last_at = $3
		where id = $1 and next_at = $4 and version = $5 and deleted_at = 0`,
		string(v.ID), micros(v.NextAt), micros(v.LastAt), micros(from), v.Version)
}

// JudgeRoutine stores the consecutive failures of a routine and, if it was
// disabled, the reason. It returns Conflict after a concurrent change.
func (w *Write) JudgeRoutine(ctx context.Context, v chela.Routine) error {
	if err := w.tx.Changed(ctx, TopicRoutines); err != nil {
		return err
	}
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set failures = $3, enabled = $4, reason = $5, next_at = $6, deleted_at = $7
		where id = $1 and version = $2`,
		string(v.ID), v.Version, v.Failures, bit(v.Enabled), v.Reason, micros(v.NextAt), micros(v.DeletedAt))
}

// LockRoutine locks a routine until the transaction ends and returns it, or
// NotFound.
func (w *Write) LockRoutine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return queryOne(ctx, w.tx, routineTable.scan, "routine", string(id),
		`update routines set version = version where id = $1 returning `+routineTable.columns, string(id))
}

// A RoutineStamp identifies a version of the set of message-triggered routines.
type RoutineStamp struct {
	Count    int
	Versions int64
	Newest   time.Time
}

// HearingStamp returns the stamp of the enabled message-triggered routines.
func (r *Read) HearingStamp(ctx context.Context) (s RoutineStamp, err error) {
	s, _, err = queryFirst(ctx, r.tx, func(row engine.Row) (s RoutineStamp, err error) {
		err = row.Scan(&s.Count, &s.Versions, scanTime(&s.Newest))
		return s, err
	}, `select count(*), cast(coalesce(sum(version), 0) as bigint), coalesce(max(updated_at), 0) from routines
		where trigger_kind = 'event' and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0`)
	return s, err
}
