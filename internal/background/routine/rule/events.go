package rule

import (
	"slices"
	"strings"

	"chela"
)

// parts splits an event kind such as "job.changed" into its source and its
// happening.
func parts(e chela.Event) (source, happening string) {
	source, happening, _ = strings.Cut(string(e.Kind), ".")
	return source, happening
}

// sources lists the event sources that routines can subscribe to.
var sources = []string{"job", "routine", "turn", "approval", "session", "tool", "message", "notice"}

func checkSystem(t chela.Trigger) error {
	if !slices.Contains(sources, t.Source) {
		return invalid("%q is not a source of events", Shown(t.Source)).WithHint("use one of " + strings.Join(sources, ", "))
	}
	for name := range t.Filter {
		if _, ok := fields(chela.Event{})[name]; !ok {
			return invalid("%q is not a field of events", Shown(name)).
				WithHint("use session, turn, job, routine, run, tool, text or agent")
		}
	}
	return nil
}

// fields returns the fields of an event that a filter can compare.
func fields(e chela.Event) map[string]string {
	agent := ""
	if key, err := chela.ParseSessionKey(e.Session); err == nil {
		agent = key.Agent
	}
	return map[string]string{
		"session": string(e.Session), "turn": string(e.Turn), "job": string(e.Job), "routine": string(e.Routine), "run": string(e.Run),
		"tool": e.Tool, "text": e.Text, "agent": agent,
	}
}

// Hears reports whether an event fires a routine. Events of the routine's own
// runs do not.
func Hears(v chela.Routine, e chela.Event) bool {
	source, happening := parts(e)
	own := e.Routine == v.ID || e.Session == (chela.Key{Kind: chela.KeyCron, ID: string(v.ID)}).Session()
	if own || source != v.Trigger.Source {
		return false
	}
	if want := v.Trigger.Event; want != "" && want != happening && want != e.Text {
		return false
	}
	have := fields(e)
	for name, want := range v.Trigger.Filter {
		if have[name] != want {
			return false
		}
	}
	return true
}
