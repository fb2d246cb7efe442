package routine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/config/field"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

const most = 1_000_000 // upper bound of every count

var actionKeys = []FormKey{
	{Name: "do", Help: "action: turn, lightweight, job, system_event or notify (default: turn)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Kind, []chela.ActionKind{
			chela.ActionTurn, chela.ActionLight, chela.ActionJob, chela.ActionEvent, chela.ActionNotify,
		})
	}},
	{Name: Prompt, Help: "prompt of the turn, or text of the notice", at: func(d *Draft) field.Field {
		at := &d.Routine.Action.Text
		return field.Field{
			Want: "text",
			Put: func(v any) error {
				text, ok := v.(string)
				if !ok || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
					return field.ErrUnwanted
				}
				*at = strings.TrimRight(text, "\n")
				return nil
			},
			Show: func() string { return *at },
		}
	}},
	{Name: "document", Help: "lightweight: documents to include, separated by commas", at: func(d *Draft) field.Field {
		return field.List(&d.Routine.Action.Documents, "paths of documents", field.OneLine)
	}},
	{Name: "main", Help: "turn: run in the main session, not in one of its own", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Action.Main)
	}},
	{Name: "model", Help: "the model, as provider/model", at: func(d *Draft) field.Field {
		f := field.Model(&d.Routine.Action.Model)
		put := f.Put
		f.Put = func(v any) error {
			if v == "" { // the agent's default
				d.Routine.Action.Model = ""
				return nil
			}
			return put(v)
		}
		return f
	}},
	{Name: "thinking", Help: "how much the model reasons", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Thinking, []chela.ThinkingLevel{
			chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh, "",
		})
	}},
	{Name: "steps", Help: "most steps of a run", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Action.Steps, 0, most)
	}},
	{Name: "timeout", Help: "longest time of a run", at: func(d *Draft) field.Field { return spanOf((*time.Duration)(&d.Routine.Action.Timeout)) }},
	{Name: "max-tokens", Help: "lightweight: most tokens of the answer", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Action.MaxTokens, 0, most)
	}},
	{Name: "title", Help: "job: its title", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Action.Title, "text", field.AnyText)
	}},
	{Name: "plan", Help: "job: make a plan first", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Action.Plan)
	}},
	{Name: "priority", Help: "job: priority; higher ones run first", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Action.Priority, -most, most)
	}},
	{Name: "post", Help: "post to the main session: none, summary or full (default: summary)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Post, []chela.PostMode{chela.PostNone, chela.PostSummary, chela.PostFull, ""})
	}},
	{Name: "wake", Help: "when the main session reads the post: now or next-heartbeat", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Wake, []chela.WakeMode{chela.WakeNow, chela.WakeNextHeartbeat, ""})
	}},
	{Name: "once", Help: "delete it after its first successful run", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.DeleteAfterRun)
	}},
}

var notifyKeys = []FormKey{
	{Name: "notify", Help: "when to notify people: always, conditional or never (default: conditional)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Notify.Policy, []chela.NotifyPolicy{chela.NotifyAlways, chela.NotifyConditional, chela.NotifyNever, ""})
	}},
	{Name: "target", Help: "where to notify them: origin, last, broadcast, explicit or none (default: origin)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Notify.Target, []chela.NotifyTarget{
			chela.TargetOrigin, chela.TargetLast, chela.TargetBroadcast, chela.TargetExplicit, chela.TargetNone, "",
		})
	}},
	{Name: "to", Help: "explicit target, such as telegram or telegram:12345", at: (*Draft).place},
	{Name: "after-failures", Help: "consecutive failures that are always notified; -1 for never", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Notify.AfterFailures, -1, most)
	}},
	{Name: "disable-after", Help: "consecutive failures that disable it; -1 for never", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Notify.Disable, -1, most)
	}},
	{Name: "repeat", Help: "how long a repeated notice is suppressed", at: func(d *Draft) field.Field {
		return spanOf((*time.Duration)(&d.Routine.Notify.Repeat))
	}},
}

// place is a field for a channel and an address in it. Setting it makes the
// target explicit.
func (d *Draft) place() field.Field {
	n := &d.Routine.Notify
	return field.Field{
		Want: "a channel, or a channel and a place in it, such as telegram:12345",
		Put: func(v any) error {
			text, ok := v.(string)
			channel, to, _ := strings.Cut(text, ":")
			switch {
			case !ok || text != "" && !chela.ValidName(channel):
				return field.ErrUnwanted
			case text != "":
				n.Target = chela.TargetExplicit
			case n.Target == chela.TargetExplicit:
				n.Target = ""
			}
			n.Channel, n.To = channel, to
			return nil
		},
		Show: func() string { return strings.TrimSuffix(n.Channel+":"+n.To, ":") },
	}
}

var guardKeys = []FormKey{
	{Name: "cooldown", Help: "minimum time between runs not fired by the clock; 0s for none", at: func(d *Draft) field.Field {
		return orNone((*time.Duration)(&d.Routine.Guards.Cooldown))
	}},
	{Name: "collect", Help: "gather messages, requests and events during the cooldown into one run, instead of dropping them", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Guards.Collect)
	}},
	{Name: "concurrent", Help: "most concurrent runs; -1 for no limit", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.Concurrent, -1, most)
	}},
	{Name: "dedup", Help: "how long a repeated cause is ignored", at: func(d *Draft) field.Field {
		return spanOf((*time.Duration)(&d.Routine.Guards.Dedup))
	}},
	{Name: "per-hour", Help: "most runs in an hour", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.PerHour, 0, most)
	}},
	{Name: "per-day", Help: "most runs in 24 hours", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.PerDay, 0, most)
	}},
	{Name: "active", Help: `active hours, outside of which it is skipped, as "08:00-22:00" or with a zone after them`, at: (*Draft).active},
	{Name: "idle", Help: "skip it while a turn of the main session is in flight", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Guards.Idle)
	}},
	{Name: "unless-blank", Help: "skip it while this document is empty", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Guards.Unless, "the path of a document", field.AnyText)
	}},
}

// active is a field for the active hours of a day.
func (d *Draft) active() field.Field {
	a := &d.Routine.Guards.ActiveHours
	return field.Field{
		Want: `hours such as "08:00-22:00", and a zone after them if it is not the owner's`,
		Put: func(v any) error {
			text, ok := v.(string)
			span, zone, _ := strings.Cut(strings.TrimSpace(text), " ")
			start, end, both := strings.Cut(span, "-")
			if !ok || text != "" && (!both || !isClock(start) || !isClock(end)) {
				return field.ErrUnwanted
			}
			*a = chela.ActiveHours{Start: start, End: end, Zone: strings.TrimSpace(zone)}
			return nil
		},
		Show: func() string {
			if a.Start == "" && a.End == "" {
				return ""
			}
			return strings.TrimSpace(a.Start + "-" + a.End + " " + a.Zone)
		},
	}
}

// isClock reports whether text has the form HH:MM; the range is checked when
// the routine is stored.
func isClock(text string) bool {
	hour, minute, ok := strings.Cut(text, ":")
	h, err := strconv.Atoi(hour)
	m, wrong := strconv.Atoi(minute)
	return ok && err == nil && wrong == nil && len(text) == 5 && h >= 0 && h <= 24 && m >= 0 && m <= 59
}
