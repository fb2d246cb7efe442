package config

import (
	"time"

	"chela"
	"chela/internal/config/field"
)

// Routines holds the defaults of routines.
type Routines struct {
	Enabled         bool // off: no due time, message or webhook fires a routine
	Missed          chela.MissedPolicy
	Cooldown        time.Duration // of one routine, between two events or webhooks that fire it
	Timeout         time.Duration // of one run
	KeepRuns        int           // of one routine, in its history
	NotifyAfter     int           // consecutive failures until the owner is notified, whatever the routine says
	DisableAfter    int           // consecutive failures, after which it is disabled
	MaxWebhookBytes int           // of the body of a webhook
	CronInterval    int           // seconds; without effect, since due times are not polled
}

// NewRoutines returns the defaults.
func NewRoutines() Routines {
	return Routines{
		Enabled: true, Missed: chela.MissedOnce, Cooldown: 5 * time.Minute, Timeout: 10 * time.Minute,
		KeepRuns: 100, NotifyAfter: 3, DisableAfter: 10, MaxWebhookBytes: 1 << 20,
	}
}

var missed = []chela.MissedPolicy{chela.MissedSkip, chela.MissedOnce, chela.MissedAll}

// RoutineKeys are the keys of [routines].
var RoutineKeys = []field.Key[Routines]{
	field.Named("enabled", func(r *Routines) field.Field { return field.Switch(&r.Enabled) }, "ROUTINES_ENABLED"),
	field.Named("missed", func(r *Routines) field.Field { return field.Choice(&r.Missed, missed) }),
	field.Named("cooldown", func(r *Routines) field.Field { return field.Span(&r.Cooldown, 0, 365*day) }),
	field.Named("timeout", func(r *Routines) field.Field { return field.Span(&r.Timeout, time.Second, day) }),
	field.Named("keep_runs", func(r *Routines) field.Field { return field.Number(&r.KeepRuns, 1, 100_000) }),
	field.Named("notify_after_failures", func(r *Routines) field.Field { return field.Number(&r.NotifyAfter, 1, 10_000) }),
	field.Named("disable_after_failures", func(r *Routines) field.Field { return field.Number(&r.DisableAfter, 1, 10_000) }),
	field.Named("max_webhook_bytes", func(r *Routines) field.Field {
		return field.Number(&r.MaxWebhookBytes, 1024, 25<<20)
	}),
	field.Named(CronInterval, cronInterval, "ROUTINES_CRON_INTERVAL"),
}

// CronInterval is the poll interval of other programs for due routines. It is
// accepted and ignored, so that they and chela can share an environment.
const CronInterval = "cron_interval"

func cronInterval(r *Routines) field.Field {
	f := field.Number(&r.CronInterval, 1, 31_536_000)
	show := f.Show
	f.Show = func() string {
		if r.CronInterval == 0 {
			return ""
		}
		return show()
	}
	return f
}
