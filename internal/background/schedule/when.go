package schedule

import (
	"strings"
	"time"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// Forms lists examples of the forms that ParseWhen reads.
const Forms = `"every weekday at 9", "every monday at 9:30", "daily at 18:00", "every 2 hours", "first of the month at 9", ` +
	`"tomorrow at 9", "in 20 minutes", "2035-05-01 09:00" or cron "0 9 * * MON-FRI"`

// longest is the longest interval.
const longest = 365 * day * time.Second

// ParseWhen reads a schedule as people write it and returns a trigger of kind cron,
// every or at. The text is words (see the package's page), a cron expression, or a
// time of ParseTime. A zone at its end, such as Asia/Tokyo, applies instead of zone,
// which is UTC if nil. Words without a repetition are the first such time after now.
// It returns Invalid, with allowed forms as the hint, for any other text.
func ParseWhen(text string, now time.Time, zone *time.Location) (t chela.Trigger, err error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return t, chela.Ef(chela.Invalid, "a schedule of %d bytes is too long", len(text)).WithHint("write one such as " + Forms)
	}
	if zone == nil {
		zone = time.UTC
	}
	name := ""
	if text, name, zone, err = cutZone(text, zone); err != nil {
		return t, err
	}
	if span, ok := strings.CutPrefix(strings.ToLower(text), "@every "); ok {
		text = "every " + span
	}
	if IsCron(text) {
		s, err := ParseCron(text, zone)
		if err != nil {
			return t, err
		}
		return chela.Trigger{Kind: chela.TriggerCron, Cron: s.cron.text, Zone: name}, nil
	}
	if at, err := ParseTime(text, zone); err == nil {
		return chela.Trigger{Kind: chela.TriggerAt, At: at}, nil
	}
	p := phrase{text: text, now: now.In(zone), zone: zone}
	for p.words = tokens(text); p.err == nil && len(p.words) > 0; {
		p.read()
	}
	if t = p.trigger(); p.err != nil {
		return chela.Trigger{}, p.err
	}
	if t.Kind == chela.TriggerCron {
		t.Zone = name
	}
	return t, nil
}

var (
	zoneForm  = lazyregexp.New(`^(?:UTC|[A-Z][A-Za-z_]+(?:/[A-Za-z_+\-0-9]{2,})+)$`)
	cronField = lazyregexp.New(`^[\d*?/,-]+$`)
	clockForm = lazyregexp.New(`^(\d{1,2})(?::([0-5]\d))?(am|pm)?$`)
	pastForm  = lazyregexp.New(`^:([0-5]\d)$`)
	dayForm   = lazyregexp.New(`^(\d{1,2})(?:st|nd|rd|th)$`)
	rangeForm = lazyregexp.New(`^([a-z]+)[-–]([a-z]+)$`)
	spanForm  = lazyregexp.New(`^(?:(\d{1,4})w)?(?:(\d{1,4})d)?(.*)$`)
)

// cutZone cuts the name of a zone off the end of a text.
func cutZone(text string, home *time.Location) (rest, name string, zone *time.Location, err error) {
	i := strings.LastIndexAny(text, " \t")
	name = text[i+1:]
	if i < 0 || !zoneForm().MatchString(name) {
		return text, "", home, nil
	}
	zone, err = time.LoadLocation(name)
	if err != nil {
		return text, "", home, chela.Ef(chela.Invalid, "there is no time zone %q", name).
			WithHint("use a name such as Europe/Zurich, or leave it out for the owner's zone")
	}
	return strings.TrimSpace(text[:i]), name, zone, nil
}

// IsCron reports whether a text is meant as a cron expression.
func IsCron(text string) bool {
	fields := strings.Fields(text)
	if strings.HasPrefix(text, "@") {
		return true
	}
	return len(fields) > 3 && cronField().MatchString(fields[0]) && cronField().MatchString(fields[1]) && cronField().MatchString(fields[2])
}

// tokens splits a phrase into words in lower case.
func tokens(text string) []string {
	text = strings.TrimRight(strings.ToLower(text), ".!")
	return strings.Fields(strings.NewReplacer(",", " ", "o'clock", " ", "a.m", "am", "p.m", "pm").Replace(text))
}
