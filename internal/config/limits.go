package config

import (
	"time"

	"chela"
	"chela/internal/config/field"
)

// Limits bound a turn, and the spending on models; for spending 0 means no
// limit.
type Limits struct {
	Steps       int           // model answers in one turn
	TurnTimeout time.Duration // wall clock, excluding the time spent waiting for people
	Repeats     int           // failures of the same call until the model is told that it is looping; 0 for any number
	IdleSteps   int           // consecutive steps without progress until it is told so; 0 for any number
	Nudges      int           // how often it is told to make a call that it only wrote as text

	USDPerDay      chela.MicroUSD // of the home, in the owner's time zone
	USDPerSession  chela.MicroUSD
	USDPerTurn     chela.MicroUSD
	USDPerJob      chela.MicroUSD
	USDPerRoutine  chela.MicroUSD // in a day
	ActionsPerHour int            // model calls per clock hour
}

// NewLimits returns the defaults.
func NewLimits() Limits {
	return Limits{Steps: 50, TurnTimeout: 30 * time.Minute, Repeats: 3, IdleSteps: 5, Nudges: 1}
}

// Money reports whether any limit is on money.
func (l Limits) Money() bool {
	return l.USDPerDay+l.USDPerSession+l.USDPerTurn+l.USDPerJob+l.USDPerRoutine > 0
}

// maxSpent is the largest limit on money.
const maxSpent = 100_000_000 * chela.USD

// LimitKeys are the keys of [limits].
var LimitKeys = []field.Key[Limits]{
	field.Named("steps", func(l *Limits) field.Field { return field.Number(&l.Steps, 1, 1000) }),
	field.Named("turn_timeout", func(l *Limits) field.Field { return field.Span(&l.TurnTimeout, time.Second, 24*time.Hour) }),
	field.Named("repeats", func(l *Limits) field.Field { return field.Number(&l.Repeats, 0, 1000) }),
	field.Named("idle_steps", func(l *Limits) field.Field { return field.Number(&l.IdleSteps, 0, 1000) }),
	field.Named("nudges", func(l *Limits) field.Field { return field.Number(&l.Nudges, 0, 10) }),
	field.Named("usd_per_day", func(l *Limits) field.Field { return field.Dollars(&l.USDPerDay, maxSpent) }),
	field.Named("usd_per_session", func(l *Limits) field.Field { return field.Dollars(&l.USDPerSession, maxSpent) }),
	field.Named("usd_per_turn", func(l *Limits) field.Field { return field.Dollars(&l.USDPerTurn, maxSpent) }),
	field.Named("usd_per_job", func(l *Limits) field.Field { return field.Dollars(&l.USDPerJob, maxSpent) }),
	field.Named("usd_per_routine", func(l *Limits) field.Field { return field.Dollars(&l.USDPerRoutine, maxSpent) }),
	field.Named("actions_per_hour", func(l *Limits) field.Field { return field.Number(&l.ActionsPerHour, 0, 100_000_000) }),
}

// Lanes limits how many lanes of a class run at once, and how many turns may
// queue before messages are refused.
type Lanes struct {
	Main, Job, Subagent, Cron int

	Waiting int
}

// places is the default number of lanes of a class. Most turns wait for a model, so it
// bounds the memory and the files of this machine rather than its processors.
const places = 64

// NewLanes returns the defaults. Half as many turns may wait as run: then the 95th
// percentile of accepted turns stays below three times that without overload, and the
// rest is refused at once.
func NewLanes() Lanes {
	return Lanes{Main: places, Job: places, Subagent: places, Cron: places, Waiting: places / 2}
}

// ByClass returns the numbers by the class of lane.
func (l Lanes) ByClass() map[chela.Class]int {
	return map[chela.Class]int{
		chela.ClassMain:     l.Main,
		chela.ClassJob:      l.Job,
		chela.ClassSubagent: l.Subagent,
		chela.ClassCron:     l.Cron,
	}
}

// maxLanes is the largest number of lanes of a class.
const maxLanes = 10_000

// LaneKeys are the keys of [lanes].
var LaneKeys = []field.Key[Lanes]{
	field.Named("main", func(l *Lanes) field.Field { return field.Number(&l.Main, 1, maxLanes) }),
	field.Named("job", (*Lanes).job),
	field.Named("subagent", (*Lanes).subagent),
	field.Named("cron", (*Lanes).cron),
	field.Named("waiting", func(l *Lanes) field.Field { return field.Number(&l.Waiting, 1, 1_000_000) }),
}

// Aliases of the same numbers in the sections of background work.
var (
	JobLaneKeys      = []field.Key[Lanes]{field.Named("max_parallel", (*Lanes).job, "MAX_PARALLEL_JOBS")}
	SubagentLaneKeys = []field.Key[Lanes]{field.Named("max_parallel", (*Lanes).subagent)}
	RoutineLaneKeys  = []field.Key[Lanes]{field.Named("max_concurrent", (*Lanes).cron, "ROUTINES_MAX_CONCURRENT")}
)

func (l *Lanes) job() field.Field      { return field.Number(&l.Job, 1, maxLanes) }
func (l *Lanes) subagent() field.Field { return field.Number(&l.Subagent, 1, maxLanes) }
func (l *Lanes) cron() field.Field     { return field.Number(&l.Cron, 1, maxLanes) }
