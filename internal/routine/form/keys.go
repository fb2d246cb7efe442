package form

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/config/field"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

const most = 1_000_000 // of whatever is counted

var actionKeys = []Key{
	{Name: "do", Help: "what it does: turn, lightweight, job, system_event or notify (default: turn)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Kind, []chela.ActionKind{
			chela.ActionTurn, chela.ActionLight, chela.ActionJob, chela.ActionEvent, chela.ActionNotify,
		})
	}},
	{Name: Prompt, Help: "what is asked, or told", at: func(d *Draft) field.Field {
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
	{Name: "document", Help: "lightweight: documents to read along, with commas between them", at: func(d *Draft) field.Field {
		return field.List(&d.Routine.Action.Documents, "paths of documents", field.OneLine)
	}},
	{Name: "main", Help: "turn: in the main session, not in one of its own", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Action.Main)
	}},
	{Name: "model", Help: "the model, as provider/model", at: func(d *Draft) field.Field {
		f := field.Model(&d.Routine.Action.Model)
		put := f.Put
		f.Put = func(v any) error {
			if v == "" { // the agent's
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
	{Name: "timeout", Help: "longest time of a run", at: func(d *Draft) field.Field { return spanOf(&d.Routine.Action.Timeout) }},
	{Name: "max-tokens", Help: "lightweight: most tokens of the answer", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Action.MaxTokens, 0, most)
	}},
	{Name: "title", Help: "job: its title", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Action.Title, "text", field.AnyText)
	}},
	{Name: "plan", Help: "job: make a plan first", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Action.Plan)
	}},
	{Name: "priority", Help: "job: before those with a smaller one", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Action.Priority, -most, most)
	}},
	{Name: "post", Help: "what of a run the main session is told: none, summary or full (default: summary)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Post, []chela.PostMode{chela.PostNone, chela.PostSummary, chela.PostFull, ""})
	}},
	{Name: "wake", Help: "when it reads that: now or next-heartbeat", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Action.Wake, []chela.WakeMode{chela.WakeNow, chela.WakeNextHeartbeat, ""})
	}},
	{Name: "once", Help: "delete it after its first good run", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.DeleteAfterRun)
	}},
}

var notifyKeys = []Key{
	{Name: "notify", Help: "when people are told: always, conditional or never (default: conditional)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Notify.Policy, []chela.NotifyPolicy{chela.NotifyAlways, chela.NotifyConditional, chela.NotifyNever, ""})
	}},
	{Name: "target", Help: "where they are told: origin, last, broadcast, explicit or none (default: origin)", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Notify.Target, []chela.NotifyTarget{
			chela.TargetOrigin, chela.TargetLast, chela.TargetBroadcast, chela.TargetExplicit, chela.TargetNone, "",
		})
	}},
	{Name: "to", Help: "the place where they are told, as telegram or telegram:12345", at: (*Draft).place},
	{Name: "after-failures", Help: "failures in a row of which people are told in any case; -1 for never", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Notify.AfterFailures, -1, most)
	}},
	{Name: "disable-after", Help: "failures in a row after which it is disabled; -1 for never", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Notify.Disable, -1, most)
	}},
	{Name: "repeat", Help: "for how long the same text is not told again", at: func(d *Draft) field.Field {
		return spanOf(&d.Routine.Notify.Repeat)
	}},
}

// place is a field for a channel and whom to tell there. Naming one makes it the
// target.
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

var guardKeys = []Key{
	{Name: "cooldown", Help: "least time between runs that no clock makes fire; 0s for none", at: func(d *Draft) field.Field {
		return orNone(&d.Routine.Guards.Cooldown)
	}},
	{Name: "concurrent", Help: "runs at once; -1 for no bound", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.Concurrent, -1, most)
	}},
	{Name: "dedup", Help: "for how long the same cause does not fire again", at: func(d *Draft) field.Field {
		return spanOf(&d.Routine.Guards.Dedup)
	}},
	{Name: "per-hour", Help: "most runs in an hour", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.PerHour, 0, most)
	}},
	{Name: "per-day", Help: "most runs in 24 hours", at: func(d *Draft) field.Field {
		return field.Number(&d.Routine.Guards.PerDay, 0, most)
	}},
	{Name: "active", Help: `hours outside of which it is skipped, as "08:00-22:00" or with a zone after them`, at: (*Draft).active},
	{Name: "idle", Help: "skip it while a turn of the main session is in flight", Switch: true, at: func(d *Draft) field.Field {
		return field.Switch(&d.Routine.Guards.Idle)
	}},
	{Name: "unless-blank", Help: "skip it while this document has nothing in it", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Guards.Unless, "the path of a document", field.AnyText)
	}},
}

// active is a field for the hours of a day.
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

// isClock reports whether text looks like HH:MM; whether there is such a time is
// looked at when the routine is kept.
func isClock(text string) bool {
	hour, minute, ok := strings.Cut(text, ":")
	h, err := strconv.Atoi(hour)
	m, wrong := strconv.Atoi(minute)
	return ok && err == nil && wrong == nil && len(text) == 5 && h >= 0 && h <= 24 && m >= 0 && m <= 59
}
