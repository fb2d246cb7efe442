package form

import (
	"strings"
	"time"

	"chela"
	"chela/internal/schedule"
)

// When says in a few words what makes a routine fire. Zone is the owner's.
func When(t chela.Trigger, zone *time.Location) string {
	switch t.Kind {
	case chela.TriggerCron:
		return cronText(t, zone)
	case chela.TriggerEvery:
		return "every " + Span(t.Every)
	case chela.TriggerAt:
		return "once"
	case chela.TriggerEvent:
		return strings.TrimSpace("message "+t.Channel) + " /" + t.Pattern + "/"
	case chela.TriggerSystem:
		return t.Source + "." + t.Event
	case chela.TriggerWebhook:
		return "POST /hooks/" + t.Path + " (" + t.Scheme + ")"
	case chela.TriggerManual:
		return "by hand"
	default:
		return string(t.Kind)
	}
}

func cronText(t chela.Trigger, zone *time.Location) string {
	if t.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(t.Zone); err != nil {
			return t.Cron + " " + t.Zone
		}
	}
	s, err := schedule.ParseCron(t.Cron, zone)
	if err != nil { // it was kept by a version that knew it
		return t.Cron
	}
	return s.Describe()
}
