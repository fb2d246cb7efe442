package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
)

// A HookKind says how a hook is asked.
type HookKind string

// The kinds of hooks.
const (
	HookRule    HookKind = "rule"    // a regular expression
	HookCommand HookKind = "command" // a program
	HookWebhook HookKind = "webhook" // an address
)

var hookKinds = []HookKind{HookRule, HookCommand, HookWebhook}

// The words of hooks.
const (
	HookReplace = "replace" // action of a rule
	HookReject  = "reject"
	HookOpen    = "open" // on_error: as if the hook were not there
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

var hookPoints = []chela.HookPoint{
	chela.HookBeforeInbound, chela.HookBeforeToolCall, chela.HookAfterToolCall, chela.HookTransform, chela.HookBeforeOutbound,
	chela.HookSessionStart, chela.HookSessionEnd,
}

// hookSettings are the keys of a [[hooks]] section.
var hookSettings = []setting{
	{"hooks[].name", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Name, "a name on one line", field.OneLine)
	}},
	{"hooks[].point", nil, func(c *Config, n string) field.Field { return field.Choice(&c.hook(n).Point, hookPoints) }},
	{"hooks[].kind", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.hook(n).Kind, hookKinds)
	}},
	{"hooks[].tool", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Tool, "a tool name", field.OneLine)
	}},
	{"hooks[].agent", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Agent, "an agent's name", chela.ValidName)
	}},
	{"hooks[].channel", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Channel, "a channel's name", chela.ValidName)
	}},
	{"hooks[].match", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Match, "a regular expression as Go has them", isExpression)
	}},
	{"hooks[].action", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.hook(n).Action, []string{HookReplace, HookReject})
	}},
	{"hooks[].replace", nil, func(c *Config, n string) field.Field { return field.Text(&c.hook(n).Replace, "text", field.AnyText) }},
	{"hooks[].reason", nil, func(c *Config, n string) field.Field {
		return field.Text(&c.hook(n).Reason, "a reason on one line", field.OneLine)
	}},
	{"hooks[].command", nil, func(c *Config, n string) field.Field {
		return field.List(&c.hook(n).Command, "a program and its arguments, as a list", field.AnyText)
	}},
	{"hooks[].url", nil, func(c *Config, n string) field.Field {
		f := field.Text(&c.hook(n).URL, "an http or https URL", isHookURL)
		f.Secret = true // it may have a token in it, and is not repeated
		f.Show = func() string { return shownURL(c.hook(n).URL) }
		return f
	}},
	{"hooks[].timeout", nil, func(c *Config, n string) field.Field {
		return field.Span(&c.hook(n).Timeout, 10*time.Millisecond, time.Minute)
	}},
	{"hooks[].on_error", nil, func(c *Config, n string) field.Field {
		return field.Choice(&c.hook(n).OnError, []string{HookClosed, HookOpen})
	}},
}

func isExpression(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil && s != ""
}

func isHookURL(s string) bool {
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

// hook returns the hook at a place of the list, and makes it if it is new.
func (c *Config) hook(at string) *Hook {
	n := tomlfile.NthOf(at)
	for len(c.Hooks) < n {
		c.Hooks = append(c.Hooks, Hook{Timeout: 5 * time.Second, OnError: HookClosed})
	}
	return &c.Hooks[n-1]
}

// checkHooks refuses hooks that could do nothing, and keys of another kind.
func (l *loader) checkHooks() error {
	for i := range l.c.Hooks {
		at := hookPlace{l: l, section: []string{"hooks", tomlfile.Place(i + 1)}}
		if err := at.check(l.c.Hooks[i]); err != nil {
			return err
		}
	}
	return nil
}

// hookKeys are the keys that a kind needs, and those that it may have besides
// those of every kind.
var hookKeys = map[HookKind]struct{ needs, may []string }{
	HookRule:    {[]string{"match", "action"}, []string{"replace", "reason"}},
	HookCommand: {[]string{"command"}, []string{"timeout", "on_error"}},
	HookWebhook: {[]string{"url"}, []string{"timeout", "on_error"}},
}

// A hookPlace is one section of the list.
type hookPlace struct {
	l       *loader
	section []string
}

func (p hookPlace) refuse(problem, hint string) error {
	name := tomlfile.Join(p.section)
	return chela.E(chela.Invalid, p.l.sections[name].place+": "+name+" "+problem).WithHint(hint)
}

func (p hookPlace) has(key string) bool {
	_, ok := p.l.slots[tomlfile.Join(append(slices.Clone(p.section), key))]
	return ok
}

func (p hookPlace) check(h Hook) error {
	session := h.Point == chela.HookSessionStart || h.Point == chela.HookSessionEnd
	switch {
	case h.Point == "":
		return p.refuse("has no point", "add point, one of "+words(hookPoints))
	case h.Kind == "":
		return p.refuse("has no kind", "add kind, one of "+words(hookKinds))
	case session && h.Kind == HookRule:
		return p.refuse("is a rule, which has nothing to match at "+string(h.Point), "use a command or a webhook")
	case h.Tool != "" && h.Point != chela.HookBeforeToolCall && h.Point != chela.HookAfterToolCall:
		return p.refuse("names a tool, and there is none at "+string(h.Point), "take tool out")
	}
	keys := hookKeys[h.Kind]
	for _, key := range keys.needs {
		if !p.has(key) || key == "command" && (len(h.Command) == 0 || h.Command[0] == "") {
			return p.refuse(fmt.Sprintf("is a %s without %s", h.Kind, key), "add "+key)
		}
	}
	for _, kind := range hookKinds {
		other := hookKeys[kind]
		for _, key := range slices.Concat(other.needs, other.may) {
			if kind != h.Kind && p.has(key) && !slices.Contains(slices.Concat(keys.needs, keys.may), key) {
				return p.refuse(fmt.Sprintf("is a %s, for which %s means nothing", h.Kind, key), "take it out")
			}
		}
	}
	return nil
}

func words[S ~string](all []S) string {
	list := make([]string, len(all))
	for i, w := range all {
		list[i] = string(w)
	}
	return strings.Join(list, ", ")
}
