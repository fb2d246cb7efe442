package config

// This part of the package defines the [[hooks]] sections of config.toml.

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

// A HookKind says how a hook is implemented.
type HookKind string

// The kinds of hooks.
const (
	HookRule    HookKind = "rule"    // a regular expression
	HookCommand HookKind = "command" // a program
	HookWebhook HookKind = "webhook" // an address
)

var hookKinds = []HookKind{HookRule, HookCommand, HookWebhook}

// Values of hook settings.
const (
	HookReplace = "replace" // action of a rule
	HookReject  = "reject"
	HookOpen    = "open" // on_error: ignore the hook
	HookClosed  = "closed"
)

// A Hook is one [[hooks]] section. An empty Tool, Agent or Channel matches
// everything.
type Hook struct {
	Name    string
	Point   chela.HookPoint
	Kind    HookKind
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

// HookKeys are the keys of [[hooks]], in the order of the documentation.
var HookKeys = []field.Key[Hook]{
	field.Named("name", func(h *Hook) field.Field {
		return field.Text(&h.Name, "a name on one line", field.OneLine)
	}),
	field.Named("point", func(h *Hook) field.Field { return field.Choice(&h.Point, points) }),
	field.Named("kind", func(h *Hook) field.Field {
		return field.Choice(&h.Kind, hookKinds)
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
		return field.Choice(&h.Action, []string{HookReplace, HookReject})
	}),
	field.Named("replace", func(h *Hook) field.Field { return field.Text(&h.Replace, "text", field.AnyText) }),
	field.Named("reason", func(h *Hook) field.Field {
		return field.Text(&h.Reason, "a reason on one line", field.OneLine)
	}),
	field.Named("command", func(h *Hook) field.Field {
		return field.List(&h.Command, "a program and its arguments, as a list", field.AnyText)
	}),
	field.Named("url", func(h *Hook) field.Field {
		f := field.Text(&h.URL, "an http or https URL", isHookURL)
		f.Secret = true // it may contain a token, and is not repeated
		f.Show = func() string { return shownURL(h.URL) }
		return f
	}),
	field.Named("timeout", func(h *Hook) field.Field {
		return field.Span(&h.Timeout, 10*time.Millisecond, time.Minute)
	}),
	field.Named("on_error", func(h *Hook) field.Field {
		return field.Choice(&h.OnError, []string{HookClosed, HookOpen})
	}),
}

// NewHook returns a hook with the defaults.
func NewHook() Hook { return Hook{Timeout: 5 * time.Second, OnError: HookClosed} }

func isExpression(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil && s != ""
}

func isHookURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// shownURL is an address without its parts that may be secret.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// keysOf are the required and the optional keys of a kind, besides the keys
// common to all kinds.
var keysOf = map[HookKind]struct{ needs, may []string }{
	HookRule:    {[]string{"match", "action"}, []string{"replace", "reason"}},
	HookCommand: {[]string{"command"}, []string{"timeout", "on_error"}},
	HookWebhook: {[]string{"url"}, []string{"timeout", "on_error"}},
}

// Problem returns the problem of a hook, and a hint: it can have no effect, or
// has a key of another kind. Has reports whether a key was set. A valid hook
// has no problem.
func (h Hook) Problem(has func(key string) bool) (problem, cure string) {
	session := h.Point == chela.HookSessionStart || h.Point == chela.HookSessionEnd
	switch {
	case h.Point == "":
		return "has no point", "add point, one of " + wordList(points)
	case h.Kind == "":
		return "has no kind", "add kind, one of " + wordList(hookKinds)
	case session && h.Kind == HookRule:
		return "is a rule, which cannot match at " + string(h.Point), "use a command or a webhook"
	case h.Tool != "" && h.Point != chela.HookBeforeToolCall && h.Point != chela.HookAfterToolCall:
		return "names a tool, but none runs at " + string(h.Point), "remove tool"
	}
	keys := keysOf[h.Kind]
	for _, key := range keys.needs {
		if !has(key) || key == "command" && (len(h.Command) == 0 || h.Command[0] == "") {
			return fmt.Sprintf("is a %s without %s", h.Kind, key), "add " + key
		}
	}
	for _, kind := range hookKinds {
		other := keysOf[kind]
		for _, key := range slices.Concat(other.needs, other.may) {
			if kind != h.Kind && has(key) && !slices.Contains(slices.Concat(keys.needs, keys.may), key) {
				return fmt.Sprintf("is a %s, to which %s does not apply", h.Kind, key), "remove it"
			}
		}
	}
	return "", ""
}

func wordList[S ~string](all []S) string {
	list := make([]string, len(all))
	for i, w := range all {
		list[i] = string(w)
	}
	return strings.Join(list, ", ")
}
