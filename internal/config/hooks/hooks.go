// Package hooks holds what a [[hooks]] section of config.toml may say.
package hooks

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
)

// A Kind says how a hook is asked.
type Kind string

// The kinds of hooks.
const (
	Rule    Kind = "rule"    // a regular expression
	Command Kind = "command" // a program
	Webhook Kind = "webhook" // an address
)

var kinds = []Kind{Rule, Command, Webhook}

// The words of hooks.
const (
	Replace = "replace" // action of a rule
	Reject  = "reject"
	Open    = "open" // on_error: as if the hook were not there
	Closed  = "closed"
)

// A Hook is one [[hooks]] section. An empty Tool, Agent or Channel matches
// everything.
type Hook struct {
	Name    string
	Point   chela.HookPoint
	Kind    Kind
	Tool    string
	Agent   string
	Channel string
	Timeout time.Duration
	OnError string

	Match, Action, Replace, Reason string // of a rule

	Command []string
	URL     string
}

var points = []chela.HookPoint{
	chela.HookBeforeInbound, chela.HookBeforeToolCall, chela.HookAfterToolCall, chela.HookTransform, chela.HookBeforeOutbound,
	chela.HookSessionStart, chela.HookSessionEnd,
}

// Keys are all of them, in the order of the documentation.
var Keys = []field.Key[Hook]{
	field.Named("name", func(h *Hook) field.Field {
		return field.Text(&h.Name, "a name on one line", field.OneLine)
	}),
	field.Named("point", func(h *Hook) field.Field { return field.Choice(&h.Point, points) }),
	field.Named("kind", func(h *Hook) field.Field {
		return field.Choice(&h.Kind, kinds)
	}),
	field.Named("tool", func(h *Hook) field.Field {
		return field.Text(&h.Tool, "a tool name", field.OneLine)
	}),
	field.Named("agent", func(h *Hook) field.Field {
		return field.Text(&h.Agent, "an agent's name", chela.ValidName)
	}),
	field.Named("channel", func(h *Hook) field.Field {
		return field.Text(&h.Channel, "a channel's name", chela.ValidName)
	}),
	field.Named("match", func(h *Hook) field.Field {
		return field.Text(&h.Match, "a regular expression as Go has them", isExpression)
	}),
	field.Named("action", func(h *Hook) field.Field {
		return field.Choice(&h.Action, []string{Replace, Reject})
	}),
	field.Named("replace", func(h *Hook) field.Field { return field.Text(&h.Replace, "text", field.AnyText) }),
	field.Named("reason", func(h *Hook) field.Field {
		return field.Text(&h.Reason, "a reason on one line", field.OneLine)
	}),
	field.Named("command", func(h *Hook) field.Field {
		return field.List(&h.Command, "a program and its arguments, as a list", field.AnyText)
	}),
	field.Named("url", func(h *Hook) field.Field {
		f := field.Text(&h.URL, "an http or https URL", isURL)
		f.Secret = true // it may have a token in it, and is not repeated
		f.Show = func() string { return shownURL(h.URL) }
		return f
	}),
	field.Named("timeout", func(h *Hook) field.Field {
		return field.Span(&h.Timeout, 10*time.Millisecond, time.Minute)
	}),
	field.Named("on_error", func(h *Hook) field.Field {
		return field.Choice(&h.OnError, []string{Closed, Open})
	}),
}

// New returns a hook that nothing is said of yet.
func New() Hook { return Hook{Timeout: 5 * time.Second, OnError: Closed} }

func isExpression(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil && s != ""
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// shownURL is an address without what may be a secret in it.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// keysOf are the keys that a kind needs, and those that it may have besides
// those of every kind.
var keysOf = map[Kind]struct{ needs, may []string }{
	Rule:    {[]string{"match", "action"}, []string{"replace", "reason"}},
	Command: {[]string{"command"}, []string{"timeout", "on_error"}},
	Webhook: {[]string{"url"}, []string{"timeout", "on_error"}},
}

// Problem returns what is wrong with a hook, and its cure: it could do nothing, or
// has a key of another kind. Has reports whether a key was set. A hook that is right
// has no problem.
func (h Hook) Problem(has func(key string) bool) (problem, cure string) {
	session := h.Point == chela.HookSessionStart || h.Point == chela.HookSessionEnd
	switch {
	case h.Point == "":
		return "has no point", "add point, one of " + words(points)
	case h.Kind == "":
		return "has no kind", "add kind, one of " + words(kinds)
	case session && h.Kind == Rule:
		return "is a rule, which has nothing to match at " + string(h.Point), "use a command or a webhook"
	case h.Tool != "" && h.Point != chela.HookBeforeToolCall && h.Point != chela.HookAfterToolCall:
		return "names a tool, and there is none at " + string(h.Point), "take tool out"
	}
	keys := keysOf[h.Kind]
	for _, key := range keys.needs {
		if !has(key) || key == "command" && (len(h.Command) == 0 || h.Command[0] == "") {
			return fmt.Sprintf("is a %s without %s", h.Kind, key), "add " + key
		}
	}
	for _, kind := range kinds {
		other := keysOf[kind]
		for _, key := range slices.Concat(other.needs, other.may) {
			if kind != h.Kind && has(key) && !slices.Contains(slices.Concat(keys.needs, keys.may), key) {
				return fmt.Sprintf("is a %s, for which %s means nothing", h.Kind, key), "take it out"
			}
		}
	}
	return "", ""
}

func words[S ~string](all []S) string {
	list := make([]string, len(all))
	for i, w := range all {
		list[i] = string(w)
	}
	return strings.Join(list, ", ")
}
