// Package background holds what config.toml may say of work that nobody waits for:
// jobs, subagents, routines, the heartbeat, and the repair of what is stuck.
//
// How many of each run at once is not here: it is the number of lanes of a class,
// which jobs.max_parallel, subagents.max_parallel and routines.max_concurrent set
// as [lanes] does.
package background

import (
	"time"

	"chela/internal/config/field"
)

// day is 24 hours; configurations know no longer unit than the hour.
const day = 24 * time.Hour

// Jobs bound the jobs of a home. What bounds a turn ([limits]) bounds theirs too.
type Jobs struct {
	Timeout  time.Duration // of one try, waiting for people not counted
	Steps    int           // model answers in one turn
	Tokens   int           // that the model calls of a job may take together; 0 means no limit
	Waiting  int           // jobs that wait for a place, after which no more are taken
	Subtasks int           // parts of one job
}

// NewJobs returns the defaults.
func NewJobs() Jobs {
	return Jobs{Timeout: 30 * time.Minute, Steps: 50, Waiting: 10_000, Subtasks: 20}
}

// JobKeys are the keys of [jobs].
var JobKeys = []field.Key[Jobs]{
	field.Named("timeout", func(j *Jobs) field.Field { return field.Span(&j.Timeout, time.Second, 30*day) }),
	field.Named("steps", func(j *Jobs) field.Field { return field.Number(&j.Steps, 1, 1000) }),
	field.Named("tokens", func(j *Jobs) field.Field { return field.Number(&j.Tokens, 0, 1_000_000_000) }),
	field.Named("max_waiting", func(j *Jobs) field.Field { return field.Number(&j.Waiting, 1, 1_000_000) }),
	field.Named("subtasks", func(j *Jobs) field.Field { return field.Number(&j.Subtasks, 1, 1000) }),
}

// Repair says when work counts as stuck, and what is tried then.
type Repair struct {
	Enabled      bool
	Every        time.Duration // between two looks
	StuckAfter   time.Duration // without any progress
	Attempts     int           // at one job or turn, before it is left to its owner
	ToolFailures int           // of a tool in a row, after which it is disabled
	ProbeAfter   time.Duration // after which a tool that was disabled is tried again
}

// NewRepair returns the defaults.
func NewRepair() Repair {
	return Repair{
		Enabled: true, Every: time.Minute, StuckAfter: 5 * time.Minute, Attempts: 3, ToolFailures: 5, ProbeAfter: 10 * time.Minute,
	}
}

// RepairKeys are the keys of [repair].
var RepairKeys = []field.Key[Repair]{
	field.Named("enabled", func(r *Repair) field.Field { return field.Switch(&r.Enabled) }),
	field.Named("every", func(r *Repair) field.Field { return field.Span(&r.Every, time.Second, day) }),
	field.Named("stuck_after", func(r *Repair) field.Field { return field.Span(&r.StuckAfter, time.Second, 30*day) }),
	field.Named("attempts", func(r *Repair) field.Field { return field.Number(&r.Attempts, 1, 100) }),
	field.Named("tool_failures", func(r *Repair) field.Field { return field.Number(&r.ToolFailures, 1, 10_000) }),
	field.Named("probe_after", func(r *Repair) field.Field { return field.Span(&r.ProbeAfter, time.Second, 30*day) }),
}
