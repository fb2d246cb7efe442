package config

// This part of the package defines the sections of config.toml for asynchronous
// work: jobs, subagents, routines, the heartbeat, and the repair of stuck work.
//
// The parallelism of each is not set here: it is the number of lanes of a
// class, which jobs.max_parallel, subagents.max_parallel and
// routines.max_concurrent set as [lanes] does.

import (
	"time"

	"chela/internal/config/field"
)

// day is 24 hours; configurations have no unit longer than the hour.
const day = 24 * time.Hour

// Jobs limits the jobs of a home. The limits of a turn ([limits]) apply to
// theirs too.
type Jobs struct {
	Timeout  time.Duration // of one attempt, excluding the time spent waiting for people
	Steps    int           // model answers in one turn
	Tokens   int           // total for the model calls of a job; 0 means no limit
	Waiting  int           // queued jobs, beyond which no more are accepted
	Subtasks int           // parts of one job
	Depth    int           // nesting of jobs and subagents
}

// NewJobs returns the defaults.
func NewJobs() Jobs {
	return Jobs{Timeout: 30 * time.Minute, Steps: 50, Waiting: 10_000, Subtasks: 20, Depth: 5}
}

// JobKeys are the keys of [jobs].
var JobKeys = []field.Key[Jobs]{
	field.Named("timeout", func(j *Jobs) field.Field { return field.Span(&j.Timeout, time.Second, 30*day) }),
	field.Named("steps", func(j *Jobs) field.Field { return field.Number(&j.Steps, 1, 1000) }),
	field.Named("tokens", func(j *Jobs) field.Field { return field.Number(&j.Tokens, 0, 1_000_000_000) }),
	field.Named("max_waiting", func(j *Jobs) field.Field { return field.Number(&j.Waiting, 1, 1_000_000) }),
	field.Named("subtasks", func(j *Jobs) field.Field { return field.Number(&j.Subtasks, 1, 1000) }),
	field.Named("depth", func(j *Jobs) field.Field { return field.Number(&j.Depth, 1, 100) }),
}

// Repair configures when work counts as stuck, and how it is repaired.
type Repair struct {
	Enabled      bool
	Every        time.Duration // interval between checks
	StuckAfter   time.Duration // without any progress
	Attempts     int           // attempts for one job or turn, before it is left to its owner
	ToolFailures int           // consecutive failures of a tool, after which it is disabled
	ProbeAfter   time.Duration // after which a disabled tool is retried
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
