// Package routines keeps routines, their runs, what made them fire and the notes
// that sessions are told.
package routines

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads routines.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads routines.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes routines.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes routines.
func Writing(tx rows.Tx) Write { return Write{tx} }

const routineColumns = `id, name, description, agent, builtin, enabled, reason, trigger_spec, action, guards, notify, origin, session,
	delete_after_run, next_at, last_at, failures, version, created_at, updated_at, deleted_at`

func scanRoutine(row engine.Row) (v chela.Routine, err error) {
	err = row.Scan(&v.ID, &v.Name, &v.Description, &v.Agent, rows.Flag(&v.Builtin), rows.Flag(&v.Enabled), &v.Reason,
		rows.JSON(&v.Trigger), rows.JSON(&v.Action), rows.JSON(&v.Guards), rows.JSON(&v.Notify), rows.JSON(&v.Origin), &v.Session,
		rows.Flag(&v.DeleteAfterRun), rows.Time(&v.NextAt), rows.Time(&v.LastAt), &v.Failures, &v.Version,
		rows.Time(&v.CreatedAt), rows.Time(&v.UpdatedAt), rows.Time(&v.DeletedAt))
	return v, err
}

// Routine returns the routine with the given id, or NotFound. One that was
// deleted says so.
func (r Read) Routine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return rows.One(ctx, r.tx, scanRoutine, "routine", string(id),
		`select `+routineColumns+` from routines where id = $1`, string(id))
}

// RoutineNamed returns the routine with a name, and whether there is one that was
// not deleted.
func (r Read) RoutineNamed(ctx context.Context, name string) (chela.Routine, bool, error) {
	return rows.First(ctx, r.tx, scanRoutine, `select `+routineColumns+` from routines
		where name = $1 and deleted_at = 0`, name)
}

// RoutineAt returns the routine that requests to a path make fire, and whether
// there is one that was not deleted.
func (r Read) RoutineAt(ctx context.Context, path string) (chela.Routine, bool, error) {
	return rows.First(ctx, r.tx, scanRoutine, `select `+routineColumns+` from routines
		where path = $1 and path <> '' and deleted_at = 0`, path)
}

// Routines returns up to limit routines whose names come after the given one, in
// the order of their names, without those that were deleted.
func (r Read) Routines(ctx context.Context, after string, limit int) ([]chela.Routine, error) {
	return rows.All(ctx, r.tx, scanRoutine, `select `+routineColumns+` from routines
		where name > $1 and deleted_at = 0 order by name limit cast($2 as bigint)`, after, limit)
}

// DueRoutines returns up to limit enabled routines that a time makes fire, in the
// order in which they are due.
func (r Read) DueRoutines(ctx context.Context, limit int) ([]chela.Routine, error) {
	return rows.All(ctx, r.tx, scanRoutine, `select `+routineColumns+` from routines
		where next_at > 0 and enabled = 1 and deleted_at = 0 order by next_at limit cast($1 as bigint)`, limit)
}

// HearingRoutines returns the enabled routines that a message makes fire, or
// something that chela announces, as kind says; in the order of their names.
func (r Read) HearingRoutines(ctx context.Context, kind chela.TriggerKind) ([]chela.Routine, error) {
	return rows.All(ctx, r.tx, scanRoutine, `select `+routineColumns+` from routines
		where trigger_kind = $1 and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0 order by name`, string(kind))
}

// AddRoutine adds a routine. A name or path that another one has, and an id that
// exists, are a Conflict.
func (w Write) AddRoutine(ctx context.Context, v chela.Routine) error {
	n, err := w.tx.Exec(ctx, `insert into routines (`+routineColumns+`, trigger_kind, path)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
		on conflict do nothing`, routine(v)...)
	if err == nil && n == 0 {
		err = taken(v)
	}
	return err
}

// SaveRoutine stores all of a routine but when it was created. V.Version must be
// one more than that of the stored one; else somebody changed it meanwhile, and
// that is a Conflict.
func (w Write) SaveRoutine(ctx context.Context, v chela.Routine) error {
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set name = $2, description = $3, agent = $4, builtin = $5, enabled = $6,
		reason = $7, trigger_spec = $8, action = $9, guards = $10, notify = $11, origin = $12, session = $13, delete_after_run = $14,
		next_at = $15, last_at = $16, failures = $17, version = $18, updated_at = $20, deleted_at = $21, trigger_kind = $22, path = $23
		where id = $1 and version = $18 - 1 and created_at = $19`, routine(v)...)
}

func routine(v chela.Routine) []any {
	return []any{
		string(v.ID), v.Name, v.Description, v.Agent, rows.Bit(v.Builtin), rows.Bit(v.Enabled), v.Reason, rows.Text(v.Trigger), rows.Text(v.Action),
		rows.Set(v.Guards), rows.Set(v.Notify), rows.Set(v.Origin), string(v.Session), rows.Bit(v.DeleteAfterRun), rows.Micros(v.NextAt),
		rows.Micros(v.LastAt), v.Failures, v.Version, rows.Micros(v.CreatedAt), rows.Micros(v.UpdatedAt), rows.Micros(v.DeletedAt),
		string(v.Trigger.Kind), v.Trigger.Path,
	}
}

func taken(v chela.Routine) error {
	err := chela.E(chela.Conflict, "there is a routine named "+v.Name+" already")
	if v.Trigger.Path != "" {
		err = chela.E(chela.Conflict, "there is a routine named "+v.Name+", or one at /hooks/"+v.Trigger.Path+", already")
	}
	return err.WithHint("choose another name, or change that one")
}

// AdvanceRoutine stores when a routine is due next and when it was last, if it was
// due at from until now; else somebody else did so, and that is a Conflict.
func (w Write) AdvanceRoutine(ctx context.Context, v chela.Routine, from time.Time) error {
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set next_at = $2, last_at = $3
		where id = $1 and next_at = $4 and version = $5 and deleted_at = 0`,
		string(v.ID), rows.Micros(v.NextAt), rows.Micros(v.LastAt), rows.Micros(from), v.Version)
}

// JudgeRoutine stores how a routine fares: how often it failed in a row, and, if
// it is not to fire any more, that and why. It is a Conflict if the routine was
// changed since it was read.
func (w Write) JudgeRoutine(ctx context.Context, v chela.Routine) error {
	return w.tx.Move(ctx, "routine", string(v.ID), `update routines set failures = $3, enabled = $4, reason = $5, next_at = $6, deleted_at = $7
		where id = $1 and version = $2`,
		string(v.ID), v.Version, v.Failures, rows.Bit(v.Enabled), v.Reason, rows.Micros(v.NextAt), rows.Micros(v.DeletedAt))
}

// LockRoutine returns a routine that nobody else changes until the transaction
// ends, or NotFound.
func (w Write) LockRoutine(ctx context.Context, id chela.RoutineID) (chela.Routine, error) {
	return rows.One(ctx, w.tx, scanRoutine, "routine", string(id),
		`update routines set version = version where id = $1 returning `+routineColumns, string(id))
}

// A Stamp differs when the routines that a message makes fire are others.
type Stamp struct {
	Count    int
	Versions int64
	Newest   time.Time
}

// HearingStamp returns the stamp of the enabled routines that a message makes
// fire.
func (r Read) HearingStamp(ctx context.Context) (s Stamp, err error) {
	s, _, err = rows.First(ctx, r.tx, func(row engine.Row) (s Stamp, err error) {
		err = row.Scan(&s.Count, &s.Versions, rows.Time(&s.Newest))
		return s, err
	}, `select count(*), cast(coalesce(sum(version), 0) as bigint), coalesce(max(updated_at), 0) from routines
		where trigger_kind = 'event' and trigger_kind in ('event', 'system_event') and enabled = 1 and deleted_at = 0`)
	return s, err
}
