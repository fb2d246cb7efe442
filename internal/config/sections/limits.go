package sections

import (
	"time"

	"chela"
	"chela/internal/config/field"
)

// Limits bound a turn, and what is spent on models; there 0 means no limit.
type Limits struct {
	Steps       int           // model answers in one turn
	TurnTimeout time.Duration // wall clock, waiting for people not counted
	Repeats     int           // failures of the same call until the model is told that it goes in circles; 0 for any number
	IdleSteps   int           // steps in a row without anything new until it is told so; 0 for any number
	Nudges      int           // how often it is told to make a call that it only wrote out

	USDPerDay      chela.MicroUSD // of the home, where its owner lives
	USDPerSession  chela.MicroUSD
	USDPerTurn     chela.MicroUSD
	USDPerJob      chela.MicroUSD
	USDPerRoutine  chela.MicroUSD // in a day
	ActionsPerHour int            // calls of models in an hour of the clock
}

// NewLimits returns the defaults.
func NewLimits() Limits {
	return Limits{Steps: 50, TurnTimeout: 30 * time.Minute, Repeats: 3, IdleSteps: 5, Nudges: 1}
}

// maxSpent bounds what a limit of money can be.
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

// Lanes say how many lanes of a class run at once, and how many turns may wait
// for that before messages are refused.
type Lanes struct {
	Main, Job, Subagent, Cron int

	Waiting int
}

// NewLanes returns the defaults.
func NewLanes() Lanes { return Lanes{Main: 4, Job: 5, Subagent: 8, Cron: 3, Waiting: 1000} }

// ByClass returns the numbers by the class of lane.
func (l Lanes) ByClass() map[chela.Class]int {
	return map[chela.Class]int{
		chela.ClassMain:     l.Main,
		chela.ClassJob:      l.Job,
		chela.ClassSubagent: l.Subagent,
		chela.ClassCron:     l.Cron,
	}
}

// maxLanes bounds how many lanes of a class can run at once.
const maxLanes = 10_000

// LaneKeys are the keys of [lanes].
var LaneKeys = []field.Key[Lanes]{
	field.Named("main", func(l *Lanes) field.Field { return field.Number(&l.Main, 1, maxLanes) }),
	field.Named("job", (*Lanes).job),
	field.Named("subagent", (*Lanes).subagent),
	field.Named("cron", (*Lanes).cron),
	field.Named("waiting", func(l *Lanes) field.Field { return field.Number(&l.Waiting, 1, 1_000_000) }),
}

// What the sections of background work call the same numbers.
var (
	JobLaneKeys      = []field.Key[Lanes]{field.Named("max_parallel", (*Lanes).job, "MAX_PARALLEL_JOBS")}
	SubagentLaneKeys = []field.Key[Lanes]{field.Named("max_parallel", (*Lanes).subagent)}
	RoutineLaneKeys  = []field.Key[Lanes]{field.Named("max_concurrent", (*Lanes).cron, "ROUTINES_MAX_CONCURRENT")}
)

func (l *Lanes) job() field.Field      { return field.Number(&l.Job, 1, maxLanes) }
func (l *Lanes) subagent() field.Field { return field.Number(&l.Subagent, 1, maxLanes) }
func (l *Lanes) cron() field.Field     { return field.Number(&l.Cron, 1, maxLanes) }
