package config

import (
	"strconv"
	"time"

	"chela"
	"chela/internal/config/field"
)

// A HeartbeatSession says where the turns of a heartbeat are.
type HeartbeatSession string

// The sessions of a heartbeat.
const (
	HeartbeatIsolated HeartbeatSession = "isolated" // a fresh thread each time
	HeartbeatMain     HeartbeatSession = "main"     // the main session of the agent
)

// Targets of a heartbeat's notices, besides the name of a channel.
const (
	TargetLast = "last" // the place of the owner's last message
	TargetNone = "none" // nowhere
)

// Heartbeat configures when agents run unprompted, and who is notified of the
// outcome.
type Heartbeat struct {
	Enabled     bool
	Every       time.Duration
	Agents      []string // agents with a heartbeat
	ActiveHours chela.ActiveHours
	Target      string // [TargetLast], [TargetNone] or a channel
	To          string // the recipient in the channel
	Model       string // provider/model; empty: the agent's cheap model, or its own
	AckMax      int    // characters beside HEARTBEAT_OK that still count as no news
	Prompt      string // the prompt of the agent; empty: the built-in one
	Session     HeartbeatSession
	RepeatAfter time.Duration // during which a duplicate notice is suppressed; 0 means never
	Failures    int           // consecutive failures until the owner is notified
}

// NewHeartbeat returns the defaults.
func NewHeartbeat() Heartbeat {
	return Heartbeat{
		Enabled: true, Every: 30 * time.Minute, Agents: []string{chela.MainAgent}, Target: TargetLast, AckMax: 300,
		Session: HeartbeatIsolated, RepeatAfter: day, Failures: 3,
	}
}

// HeartbeatKeys are the keys of [heartbeat].
var HeartbeatKeys = []field.Key[Heartbeat]{
	field.Named("enabled", func(h *Heartbeat) field.Field { return field.Switch(&h.Enabled) }, "HEARTBEAT_ENABLED"),
	field.Named("every", func(h *Heartbeat) field.Field { return orSeconds(field.Span(&h.Every, 10*time.Second, 30*day)) }, "HEARTBEAT_INTERVAL_SECS"),
	field.Named("agents", func(h *Heartbeat) field.Field { return field.List(&h.Agents, "a list of agents", chela.ValidName) }),
	field.Named("active_hours.start", func(h *Heartbeat) field.Field { return clockTime(&h.ActiveHours.Start, "23:59") }),
	field.Named("active_hours.end", func(h *Heartbeat) field.Field { return clockTime(&h.ActiveHours.End, "24:00") }),
	field.Named("active_hours.zone", func(h *Heartbeat) field.Field {
		return field.Text(&h.ActiveHours.Zone, `the name of a time zone, such as "Europe/Berlin", or "" for that of the home`, isZone)
	}),
	field.Named("target", func(h *Heartbeat) field.Field {
		return field.Text(&h.Target, `"last", "none" or the name of a channel`, chela.ValidName)
	}, "HEARTBEAT_NOTIFY_CHANNEL"),
	field.Named("to", func(h *Heartbeat) field.Field { return field.Text(&h.To, `an id in the channel, or ""`, oneLineOrNone) }, "HEARTBEAT_NOTIFY_USER"),
	field.Named("model", func(h *Heartbeat) field.Field { return field.Model(&h.Model) }),
	field.Named("ack_max_chars", func(h *Heartbeat) field.Field { return field.Number(&h.AckMax, 0, 10_000) }),
	field.Named("prompt", func(h *Heartbeat) field.Field { return field.Text(&h.Prompt, "text", field.AnyText) }),
	field.Named("session", func(h *Heartbeat) field.Field {
		return field.Choice(&h.Session, []HeartbeatSession{HeartbeatIsolated, HeartbeatMain})
	}),
	field.Named("repeat_after", func(h *Heartbeat) field.Field { return field.Span(&h.RepeatAfter, 0, 365*day) }),
	field.Named("failures", func(h *Heartbeat) field.Field { return field.Number(&h.Failures, 1, 10_000) }),
}

// orSeconds reads a bare number as seconds.
func orSeconds(f field.Field) field.Field {
	f.Want += ", or a number of seconds"
	put := f.Put
	f.Put = func(v any) error {
		if n, ok := v.(int64); ok {
			v = strconv.FormatInt(n, 10) + "s"
		}
		return put(v)
	}
	f.Read = func(text string) any {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return text
	}
	return f
}

// clockTime is a time of the day up to a last one, or none.
func clockTime(at *string, last string) field.Field {
	return field.Text(at, `a time of day from "00:00" to "`+last+`", or ""`, func(s string) bool {
		if s == "" || s == last {
			return true
		}
		_, err := time.Parse("15:04", s)
		return err == nil && len(s) == len(last)
	})
}

func isZone(s string) bool {
	_, err := time.LoadLocation(s)
	return err == nil && s != "Local"
}

func oneLineOrNone(s string) bool { return s == "" || field.OneLine(s) }

// Complete fills in a window with one bound: a start without an end lasts to
// the end of the day, an end without a start begins with the day.
func (h *Heartbeat) Complete() {
	switch hours := &h.ActiveHours; {
	case hours.Start != "" && hours.End == "":
		hours.End = "24:00"
	case hours.Start == "" && hours.End != "":
		hours.Start = "00:00"
	}
}

// Problem validates keys that are valid individually. It returns the key to
// look at, the problem, and a hint. All are empty if the heartbeat is valid.
func (h Heartbeat) Problem() (key, problem, cure string) {
	start, end := h.ActiveHours.Start, h.ActiveHours.End
	switch {
	case start != "" && start == end:
		return "active_hours.end", "is the start too, which may mean always or never", `write "00:00" and "24:00" for the whole day`
	case h.To != "" && (h.Target == TargetLast || h.Target == TargetNone):
		return "to", "is for a channel, and target is " + h.Target, "name the channel in target, or take to out"
	}
	return "", "", ""
}
