// Package rule knows what routines are and what follows from it: when they are due,
// what keeps them from firing, what comes of the ending of a run. It is pure: whoever
// calls it brings the time and does what is decided.
package rule

import (
	"cmp"
	"time"

	"chela"
	"chela/internal/excerpt"
)

// Defaults are what the configuration says of routines that say nothing.
type Defaults struct {
	Off             bool // nothing fires but by hand
	Missed          chela.Missed
	Cooldown        time.Duration // between runs that no clock made fire
	Timeout         time.Duration // of one run
	Most            int           // runs at once, of all routines
	KeepRuns        int           // of each routine
	NotifyAfter     int           // failures in a row
	DisableAfter    int           // failures in a row
	MaxWebhookBytes int
}

// Filled returns a routine with what it leaves open filled in.
func (d Defaults) Filled(v chela.Routine) chela.Routine {
	v.Guards.Cooldown = cmp.Or(v.Guards.Cooldown, d.Cooldown)
	v.Guards.Concurrent = cmp.Or(v.Guards.Concurrent, 1)
	v.Trigger.Missed = cmp.Or(v.Trigger.Missed, d.Missed)
	v.Notify.Policy = cmp.Or(v.Notify.Policy, chela.NotifyConditional)
	v.Notify.Target = cmp.Or(v.Notify.Target, chela.TargetOrigin)
	v.Notify.AfterFailures = cmp.Or(v.Notify.AfterFailures, d.NotifyAfter)
	v.Notify.Disable = cmp.Or(v.Notify.Disable, d.DisableAfter)
	v.Action.Timeout = cmp.Or(v.Action.Timeout, d.Timeout)
	v.Action.Post = cmp.Or(v.Action.Post, chela.PostSummary)
	v.Action.PostMax = cmp.Or(v.Action.PostMax, maxPost)
	v.Action.Wake = cmp.Or(v.Action.Wake, chela.WakeNextHeartbeat)
	return v
}

// Places is what is known of the runs that are running: how many each routine has, and
// how many of all take a place. One that waits, for a person or its job, takes none,
// but is one of its routine's all the same.
type Places struct {
	Running map[chela.RoutineID]int
	Taken   int
}

// MayBegin reports whether another run of a routine may begin. One that only says
// something needs no place.
func (d Defaults) MayBegin(v chela.Routine, p Places) bool {
	if says(v) {
		return true
	}
	return p.Taken < d.Most && (v.Guards.Concurrent < 0 || p.Running[v.ID] < max(1, v.Guards.Concurrent))
}

// Take counts one more run of a routine that begins.
func (p *Places) Take(v chela.Routine) {
	if !says(v) {
		p.Running[v.ID]++
		p.Taken++
	}
}

// says reports whether a routine says something and does nothing else.
func says(v chela.Routine) bool {
	return v.Action.Kind == chela.ActionNotify || v.Action.Kind == chela.ActionEvent
}

// SessionOf returns the session in which a routine runs.
func SessionOf(v chela.Routine) chela.SessionKey {
	if v.Action.Main || says(v) {
		return chela.MainKey(v.Agent)
	}
	return chela.Key{Kind: chela.KeyCron, ID: string(v.ID)}.Session()
}

// Shown is text that somebody sent, short enough for a message.
func Shown(text string) string { return excerpt.Runes(text, 80) }
