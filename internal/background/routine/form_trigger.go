package routine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/background/schedule"
	"chela/internal/config/field"
	"chela/internal/safety/signature"
)

// longest is the longest accepted span: ten years.
const longest = 10 * 366 * 24 * time.Hour

var triggerKeys = []FormKey{
	{Name: "description", Help: "what it is for", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Description, "text", field.AnyText)
	}},
	{Name: "cron", Help: `when, as "0 9 * * MON-FRI"; 6 fields begin with seconds`, at: func(d *Draft) field.Field {
		f := d.trigger("cron", chela.TriggerCron, &d.Routine.Trigger.Cron)
		put := f.Put
		f.Put = func(v any) error {
			if span, ok := spanIn(v); ok { // as cron itself accepts it
				return d.every("cron", span)
			}
			return put(v)
		}
		return f
	}},
	{Name: "every", Help: "how often, as 30m or 1d12h", at: func(d *Draft) field.Field {
		f := spanOf((*time.Duration)(&d.Routine.Trigger.Every))
		f.Put = func(v any) error {
			if span, ok := spanIn(v); ok {
				v = span
			}
			if text, _ := v.(string); strings.HasPrefix(text, "@") { // @daily and similar
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
	{Name: "system", Help: "on an event, as routine.finished", at: (*Draft).system},
	{Name: "manual", Help: "only by hand", Switch: true, at: (*Draft).manual},

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
	{Name: "missed", Help: "missed times: skip, once or all", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Trigger.Missed, []chela.MissedPolicy{chela.MissedSkip, chela.MissedOnce, chela.MissedAll, ""})
	}},
	{Name: "channel", Help: "event: only messages of this channel", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Trigger.Channel, "the name of a channel", field.AnyText)
	}},
	{Name: "scheme", Help: "webhook: how requests are signed: hmac, secret, github, stripe, slack, standard, gitlab, linear, shopify, gitea, sentry or body", at: func(d *Draft) field.Field {
		var words []string
		for _, s := range signature.Schemes() {
			words = append(words, string(s))
		}
		return field.Choice(&d.Routine.Trigger.Scheme, words)
	}},
	{Name: "signature-header", Help: "webhook, scheme body: the header of the signature", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Trigger.SignatureHeader, "the name of a header", field.OneLine)
	}},
	{Name: "signature-prefix", Help: "webhook, scheme body: what stands before the signature, such as sha256=", at: func(d *Draft) field.Field {
		return field.Text(&d.Routine.Trigger.SignaturePrefix, "text", field.OneLine)
	}},
	{Name: "signature-encoding", Help: "webhook, scheme body: hex or base64", at: func(d *Draft) field.Field {
		return field.Choice(&d.Routine.Trigger.SignatureEncoding, []string{signature.EncodingHex, signature.EncodingBase64, ""})
	}},
	{Name: "headers", Help: "webhook: headers that the run is shown (default: those that name the event)", at: func(d *Draft) field.Field {
		return field.List(&d.Routine.Trigger.Headers, "names of headers", field.OneLine)
	}},
	{Name: "secret", Help: "webhook: its secret, as env:NAME", at: func(d *Draft) field.Field {
		f := field.Text(&d.Routine.Trigger.Secret, "env:NAME, so that the secret itself is not stored", isReference)
		f.Secret = true // a literal secret given by mistake must not be echoed
		return f
	}},
	{Name: "filter", Help: "system, webhook: values that must be equal, as text=failed or body.action=opened,header.X-GitHub-Event=pull_request", at: (*Draft).filter},
}

func isReference(s string) bool {
	return strings.HasPrefix(s, "env:") || strings.HasPrefix(s, "secret:")
}

// choose sets the kind of trigger of the draft, and clears the fields of any
// other kind. It returns Invalid if another key has set a different kind.
func (d *Draft) choose(key string, kind chela.TriggerKind, then func() error) error {
	if d.chosen != "" && d.chosen != key {
		return chela.E(chela.Invalid, d.chosen+" already sets the trigger").
			WithHint("set only one, and make another routine for the other")
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

// every sets a trigger with a fixed interval.
func (d *Draft) every(key string, span any) error {
	return d.choose(key, chela.TriggerEvery, func() error { return spanOf((*time.Duration)(&d.Routine.Trigger.Every)).Put(span) })
}

// atZone parses the time of an "at" trigger again, in the zone as written.
func (d *Draft) atZone() error {
	if d.at == "" || d.zoned == "" {
		return chela.E(chela.Invalid, "a zone needs a time").WithHint(`set both: at "2035-05-01 09:00" and zone Asia/Tokyo`)
	}
	return d.inZone(d.zoned, func() error { return d.moment(&d.Routine.Trigger.At).Put(d.at) })
}

// inZone parses times in a named zone, or in the owner's if name is empty.
func (d *Draft) inZone(name string, read func() error) error {
	if name == "" {
		return read()
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return chela.E(chela.Invalid, fmt.Sprintf("there is no time zone %q", field.Cut(name))).
			WithHint("use a name such as Europe/Zurich, or leave it out for the home's zone")
	}
	own := d.Zone
	d.Zone = zone
	defer func() { d.Zone = own }()
	return read()
}

// trigger is a field for the text of a trigger of one kind.
func (d *Draft) trigger(key string, kind chela.TriggerKind, at *string) field.Field {
	f := field.Text(at, "text", field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		return d.choose(key, kind, func() error { return put(v) })
	}
	return f
}

// system is a field for the source and the kind of a system event.
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

// manual is a field for routines that fire only by hand.
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

// filter is a field for required equal values.
func (d *Draft) filter() field.Field {
	at := &d.Routine.Trigger.Filter
	if d.Routine.Trigger.Kind == chela.TriggerWebhook {
		at = &d.Routine.Trigger.Match
	}
	var words []string
	for _, name := range sortedKeys(*at) {
		words = append(words, name+"="+(*at)[name])
	}
	f := field.List(&words, "fields with their values, such as text=failed", func(s string) bool { return strings.Index(s, "=") > 0 })
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		*at = nil
		for _, word := range words {
			if *at == nil {
				*at = map[string]string{}
			}
			name, value, _ := strings.Cut(word, "=")
			(*at)[name] = value
		}
		return nil
	}
	return f
}

// moment is a field for a time, in the owner's zone unless it names one.
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
			days, _ := strconv.Atoi(parts[2])  // at most four digits, or none
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
		Show: func() string { return SpanText(*at) },
	}
}

// orNone is spanOf with an explicit "none": a span of zero, which would mean
// the configured default, is stored as a negative one.
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

// SpanText writes a span of time with days and without empty parts: 1d12h, 30m.
func SpanText(d time.Duration) string {
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
