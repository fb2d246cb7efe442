package background

import (
	"strconv"
	"time"

	"chela"
	"chela/internal/config/field"
)

// A SessionChoice says where the turns of a heartbeat are.
type SessionChoice string

// The sessions of a heartbeat.
const (
	Isolated SessionChoice = "isolated" // a fresh thread each time
	Main     SessionChoice = "main"     // the main session of the agent
)

// Where a heartbeat tells what there is, besides the name of a channel.
const (
	TargetLast = "last" // where its owner spoke last
	TargetNone = "none" // nowhere
)

// Heartbeat says when agents look around unasked, and who is told what they find.
type Heartbeat struct {
	Enabled     bool
	Every       time.Duration
	Agents      []string // that have one
	ActiveHours chela.ActiveHours
	Target      string // [TargetLast], [TargetNone] or a channel
	To          string // who is told in the channel
	Model       string // provider/model; empty: the cheap one of the agent, or its own
	AckMax      int    // characters beside HEARTBEAT_OK that still mean nothing to tell
	Prompt      string // what the agent is asked; empty: what comes with the program
	Session     SessionChoice
	RepeatAfter time.Duration // before which the same is not told again; 0 means that it is always told
	Failures    int           // in a row, of which its owner is told
}

// NewHeartbeat returns the defaults.
func NewHeartbeat() Heartbeat {
	return Heartbeat{
		Enabled: true, Every: 30 * time.Minute, Agents: []string{chela.MainAgent}, Target: TargetLast, AckMax: 300,
		Session: Isolated, RepeatAfter: day, Failures: 3,
	}
}

// HeartbeatKeys are the keys of [heartbeat].
var HeartbeatKeys = []field.Key[Heartbeat]{
	field.Named("enabled", func(h *Heartbeat) field.Field { return field.Switch(&h.Enabled) }, "HEARTBEAT_ENABLED"),
	field.Named("every", func(h *Heartbeat) field.Field { return orSeconds(field.Span(&h.Every, 10*time.Second, 30*day)) }, "HEARTBEAT_INTERVAL_SECS"),
	field.Named("agents", func(h *Heartbeat) field.Field { return field.List(&h.Agents, "a list of agents", chela.ValidName) }),
	field.Named("active_hours.start", func(h *Heartbeat) field.Field { return clock(&h.ActiveHours.Start, "23:59") }),
	field.Named("active_hours.end", func(h *Heartbeat) field.Field { return clock(&h.ActiveHours.End, "24:00") }),
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
	field.Named("session", func(h *Heartbeat) field.Field { return field.Choice(&h.Session, []SessionChoice{Isolated, Main}) }),
	field.Named("repeat_after", func(h *Heartbeat) field.Field { return field.Span(&h.RepeatAfter, 0, 365*day) }),
	field.Named("failures", func(h *Heartbeat) field.Field { return field.Number(&h.Failures, 1, 10_000) }),
}

// orSeconds takes a number alone for seconds.
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

// clock is a time of the day up to a last one, or none.
func clock(at *string, last string) field.Field {
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

// Complete says what is left open where only a part is said: hours that have a start
// alone go on to the end of the day, those with an end alone begin with it.
func (h *Heartbeat) Complete() {
	switch hours := &h.ActiveHours; {
	case hours.Start != "" && hours.End == "":
		hours.End = "24:00"
	case hours.Start == "" && hours.End != "":
		hours.Start = "00:00"
	}
}

// Problem returns what is wrong with keys that are right by themselves: the key to
// look at, what is wrong, and its cure. All are empty if nothing is.
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
