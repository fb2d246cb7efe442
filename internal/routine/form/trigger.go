package form

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/schedule"
)

// longest is the longest span that can be written: ten years.
const longest = 10 * 366 * 24 * time.Hour

var triggerKeys = []Key{
	{Name: "description", Help: "what it is for", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Description, "text", field.AnyText)
	}},
	{Name: "cron", Help: `when, as "0 9 * * MON-FRI"; 6 fields begin with seconds`, at: func(d *Draft) field.Field {
		f := d.trigger("cron", chela.TriggerCron, &d.Routine.Trigger.Cron)
		put := f.Put
		f.Put = func(v any) error {
			if span, ok := spanIn(v); ok { // as cron itself has it
				return d.every("cron", span)
			}
			return put(v)
		}
		return f
	}},
	{Name: "every", Help: "how often, as 30m or 1d12h", at: func(d *Draft) field.Field {
		f := spanOf(&d.Routine.Trigger.Every)
		f.Put = func(v any) error {
			if span, ok := spanIn(v); ok {
				v = span
			}
			if text, _ := v.(string); strings.HasPrefix(text, "@") { // @daily and its like
				return d.choose("every", chela.TriggerCron, func() error { d.Routine.Trigger.Cron = text; return nil })
			}
			return d.every("every", v)
		}
		return f
	}},
	{Name: "at", Help: `once, as "2035-05-01 09:00" or with a zone "2035-05-01T09:00:00+02:00"`, at: func(d *Draft) field.Field {
		f := d.moment(&d.Routine.Trigger.At)
		put := f.Put
		f.Put = func(v any) error {
			return d.choose("at", chela.TriggerAt, func() error {
				d.at, _ = v.(string)
				return d.inZone(d.zoned, func() error { return put(v) })
			})
		}
		return f
	}},
	{Name: "event", Help: "on messages that match this regular expression", at: func(d *Draft) field.Field {
		return d.trigger("event", chela.TriggerEvent, &d.Routine.Trigger.Pattern)
	}},
	{Name: "webhook", Help: "on requests to /hooks/ and this path", at: func(d *Draft) field.Field {
		return d.trigger("webhook", chela.TriggerWebhook, &d.Routine.Trigger.Path)
	}},
	{Name: "system", Help: "on what chela announces, as routine.finished", at: (*Draft).system},
	{Name: "manual", Help: "only when somebody fires it", Switch: true, at: (*Draft).manual},

	{Name: "zone", Help: "cron, at: the zone of its times, as Europe/Zurich (default: the owner's)", at: func(d *Draft) field.Field {
		f := field.Text(&d.Routine.Trigger.Zone, "a zone, such as Europe/Zurich", field.AnyText)
		put := f.Put
		f.Put = func(v any) error {
			d.zoned, _ = v.(string)
			if d.Routine.Trigger.Kind == chela.TriggerAt {
				return d.atZone()
			}
			return put(v)
		}
		return f
	}},
	{Name: "anchor", Help: "every: one of the times at which it fires", at: func(d *Draft) field.Field {
		return d.moment(&d.Routine.Trigger.Anchor)
	}},
	{Name: "missed", Help: "what becomes of times that nobody was there for: skip, once or all", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Trigger.Missed, []chela.Missed{chela.MissedSkip, chela.MissedOnce, chela.MissedAll, ""})
	}},
	{Name: "channel", Help: "event: only messages of this channel", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Trigger.Channel, "the name of a channel", field.AnyText)
	}},
	{Name: "scheme", Help: "webhook: how requests are signed: hmac, secret, github, stripe or slack", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Trigger.Scheme, []string{"hmac", "secret", "github", "stripe", "slack"})
	}},
	{Name: "secret", Help: "webhook: where its secret is, as env:NAME", at: func(d *Draft) field.Field {
		f := field.Text(&d.Routine.Trigger.Secret, "env:NAME, so that the secret itself is not kept here", isReference)
		f.Secret = true // who gives the secret itself does not want it repeated
		return f
	}},
	{Name: "filter", Help: "system: fields that must be equal, as text=failed", at: (*Draft).filter},
}

func isReference(s string) bool {
	return strings.HasPrefix(s, "env:") || strings.HasPrefix(s, "secret:")
}

// choose makes a kind of trigger the one of the draft, unless another was chosen
// already. What belongs to another kind is dropped.
func (d *Draft) choose(key string, kind chela.TriggerKind, then func() error) error {
	if d.chosen != "" && d.chosen != key {
		return chela.E(chela.Invalid, d.chosen+" says already what makes the routine fire").
			WithHint("say one of the two, and make another routine for the other")
	}
	d.chosen = key
	if d.Routine.Trigger.Kind != kind {
		d.Routine.Trigger = chela.Trigger{Kind: kind}
		if kind == chela.TriggerCron {
			d.Routine.Trigger.Zone = d.zoned
		}
	}
	return then()
}

// spanIn returns the span of "@every 30m".
func spanIn(v any) (span string, ok bool) {
	text, _ := v.(string)
	span, ok = strings.CutPrefix(text, "@every ")
	return strings.TrimSpace(span), ok
}

// every makes the routine fire again and again.
func (d *Draft) every(key string, span any) error {
	return d.choose(key, chela.TriggerEvery, func() error { return spanOf(&d.Routine.Trigger.Every).Put(span) })
}

// atZone reads the time once more that the routine is due at, in the zone that was
// written.
func (d *Draft) atZone() error {
	if d.at == "" || d.zoned == "" {
		return chela.E(chela.Invalid, "a zone goes with the time that is in it").WithHint(`write both: at "2035-05-01 09:00" and zone Asia/Tokyo`)
	}
	return d.inZone(d.zoned, func() error { return d.moment(&d.Routine.Trigger.At).Put(d.at) })
}

// inZone reads times in a zone, or in the owner's if none is named.
func (d *Draft) inZone(name string, read func() error) error {
	if name == "" {
		return read()
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return chela.E(chela.Invalid, fmt.Sprintf("there is no time zone %q", field.Cut(name))).
			WithHint("name it as in Europe/Zurich, or leave it out for that of the home")
	}
	own := d.Zone
	d.Zone = zone
	defer func() { d.Zone = own }()
	return read()
}

// trigger is a field for the text that makes a kind of routine fire.
func (d *Draft) trigger(key string, kind chela.TriggerKind, at *string) field.Field {
	f := field.Text(at, "text", field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		return d.choose(key, kind, func() error { return put(v) })
	}
	return f
}

// system is a field for the source and the kind of what chela announces.
func (d *Draft) system() field.Field {
	t := &d.Routine.Trigger
	return field.Field{
		Want: "a source and an event, such as job.failed",
		Put: func(v any) error {
			text, _ := v.(string)
			source, event, ok := strings.Cut(text, ".")
			if !ok || source == "" || event == "" {
				return field.ErrUnwanted
			}
			return d.choose("system", chela.TriggerSystem, func() error {
				t.Source, t.Event = source, event
				return nil
			})
		},
		Show: func() string { return strings.Trim(t.Source+"."+t.Event, ".") },
	}
}

// manual is a field for routines that only people fire.
func (d *Draft) manual() field.Field {
	on := d.Routine.Trigger.Kind == chela.TriggerManual
	f := field.Switch(&on)
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil || !on {
			return err
		}
		return d.choose("manual", chela.TriggerManual, func() error { return nil })
	}
	return f
}

// filter is a field for fields that must be equal.
func (d *Draft) filter() field.Field {
	var words []string
	for _, name := range sortedKeys(d.Routine.Trigger.Filter) {
		words = append(words, name+"="+d.Routine.Trigger.Filter[name])
	}
	f := field.List(&words, "fields with their values, such as text=failed", func(s string) bool { return strings.Index(s, "=") > 0 })
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		d.Routine.Trigger.Filter = nil
		for _, word := range words {
			if d.Routine.Trigger.Filter == nil {
				d.Routine.Trigger.Filter = map[string]string{}
			}
			name, value, _ := strings.Cut(word, "=")
			d.Routine.Trigger.Filter[name] = value
		}
		return nil
	}
	return f
}

// moment is a field for a time, in the owner's zone where it names none.
func (d *Draft) moment(at *time.Time) field.Field {
	return field.Field{
		Want: `a time such as "2035-05-01 09:00" or "2035-05-01T09:00:00+02:00"`,
		Put: func(v any) error {
			text, _ := v.(string)
			if text == "" {
				*at = time.Time{}
				return nil
			}
			s, err := schedule.ParseAt(text, d.Zone)
			if err != nil {
				return field.ErrUnwanted
			}
			*at, _ = s.Next(time.Time{})
			return nil
		},
		Show: func() string {
			if at.IsZero() {
				return ""
			}
			return at.In(d.zone()).Format(time.RFC3339Nano)
		},
	}
}

func (d *Draft) zone() *time.Location {
	if d.Zone == nil {
		return time.UTC
	}
	return d.Zone
}

var daysAndMore = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,4})d)?(.*)$`)

// spanOf is a field for a span of time with the units w, d, h, m and s.
func spanOf(at *time.Duration) field.Field {
	const day = 24 * time.Hour
	return field.Field{
		Want: "a span of time, such as 90s, 30m or 1d12h",
		Put: func(v any) error {
			text, _ := v.(string)
			parts := daysAndMore.FindStringSubmatch(text)
			if text == "" || parts == nil {
				return field.ErrUnwanted
			}
			weeks, _ := strconv.Atoi(parts[1]) // at most four digits, or none
			days, _ := strconv.Atoi(parts[2])  // likewise
			var rest time.Duration
			var err error
			if parts[3] != "" {
				rest, err = time.ParseDuration(parts[3])
			}
			total := time.Duration(7*weeks+days)*day + rest
			if err != nil || rest < 0 || rest > longest || total > longest {
				return field.ErrUnwanted
			}
			*at = total
			return nil
		},
		Show: func() string { return Span(*at) },
	}
}

// orNone is spanOf where a span of zero, which leaves it to the configuration, is kept
// as one below zero: somebody said that there is none.
func orNone(at *time.Duration) field.Field {
	f := spanOf(at)
	put, show := f.Put, f.Show
	f.Put = func(v any) error {
		err := put(v)
		if err == nil && *at == 0 {
			*at = -1
		}
		return err
	}
	f.Show = func() string {
		if *at < 0 {
			return "0s"
		}
		return show()
	}
	return f
}

// Span writes a span of time with days and without empty parts: 1d12h, 30m.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	text := ""
	if d >= day {
		text, d = fmt.Sprintf("%dd", d/day), d%day
		if d == 0 {
			return text
		}
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}
