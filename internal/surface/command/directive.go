package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
)

// A Directive sets something.
type Directive struct {
	Form  Form
	Value string              // "default" takes the setting back; empty for the queue's own settings
	Queue chela.QueueSettings // of /queue
}

// IsDefault reports whether the directive resets a setting.
func (d Directive) IsDefault() bool { return d.Value == standard }

// read consumes the arguments of a directive after its name: a word of its
// line, and for the queue as many as match.
func read(form Form, after string) (d Directive, rest string, err error) {
	d.Form = form
	if form.Name == Queue {
		return readQueue(form, after)
	}
	word, rest := CutWord(after)
	value := strings.ToLower(word)
	switch {
	case word == "":
		return d, rest, invalid("/"+form.Name+" needs a value where something follows",
			"write "+choices(form)+" behind it, or "+asText)
	case value == standard:
		d.Value = standard
	case form.Name == Model:
		if provider, name, ok := strings.Cut(word, "/"); !ok || provider == "" || name == "" {
			return d, rest, invalid(Quoted(word)+" is no model", "write PROVIDER/MODEL, as /model list shows them, or "+asText)
		}
		d.Value = word
	case !slices.Contains(form.Values, value):
		return d, rest, invalid(Quoted(word)+" is no level of "+form.Name, "use "+choices(form)+", or "+asText)
	default:
		d.Value = value
	}
	return d, rest, nil
}

func choices(form Form) string {
	if len(form.Values) == 0 {
		return "PROVIDER/MODEL"
	}
	return OneOf(form.Values)
}

// readQueue reads a mode, options or both.
func readQueue(form Form, after string) (d Directive, rest string, err error) {
	d.Form, rest = form, after
	for n := 0; ; n++ {
		word, left := CutWord(rest)
		value := strings.ToLower(word)
		key, option, isOption := strings.Cut(value, "=")
		switch {
		case n == 0 && value == standard:
			d.Value = standard
			return d, left, nil
		case n == 0 && slices.Contains(form.Values, value):
			d.Queue.Mode = chela.QueueMode(value)
		case isOption && slices.Contains([]string{"debounce", "cap", "drop"}, key):
			if err := setQueue(&d.Queue, key, option); err != nil {
				return d, rest, err
			}
		case n == 0:
			if word = Quoted(word); value == "" {
				word = "nothing"
			}
			return d, rest, invalid(word+" is no way to wait", "use "+OneOf(form.Values)+", or "+asText)
		default:
			return d, rest, nil
		}
		rest = left
	}
}

// setQueue sets an option of the queue.
func setQueue(q *chela.QueueSettings, key, value string) error {
	set := chela.QueueSettings{Drop: chela.QueueDrop(value)}
	want := "old, new or summarize"
	wrong := value == ""
	switch key {
	case "debounce":
		quiet, err := duration(value)
		set, want = chela.QueueSettings{DebounceMS: cmp.Or(int(quiet.Milliseconds()), -1)}, "a time up to "+chela.MaxDebounce.String()+", such as 2s or 500ms"
		wrong = err != nil || quiet < 0
	case "cap":
		n, err := strconv.Atoi(value)
		set, want = chela.QueueSettings{Cap: n}, fmt.Sprintf("a number from 1 to %d", chela.MaxWaiting)
		wrong = err != nil || n == 0
	}
	if wrong || set.Check() != nil {
		return invalid(fmt.Sprintf("%s cannot be %s", key, Quoted(value)), "use "+want)
	}
	*q = set.Over(*q)
	return nil
}

// duration parses a duration; a bare number is milliseconds.
func duration(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(n) * time.Millisecond, nil
	}
	return time.ParseDuration(text)
}

// CutWord cuts the next word of the same line from the front of a text.
func CutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t")
	end := strings.IndexAny(text, " \t\r\n")
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// On applies a directive to one message. Resetting a setting there is Invalid.
func (d Directive) On(in *chela.Inbound) error {
	if d.IsDefault() {
		return invalid("/"+d.Form.Name+" default is for the session", "send it alone")
	}
	o := &in.Overrides
	s := chela.Settings{
		Thinking: o.Thinking, Verbose: o.Verbose, Reasoning: o.Reasoning, Elevated: o.Elevated, Model: in.Model, Queue: in.Queue,
	}
	d.In(&s)
	o.Thinking, o.Verbose, o.Reasoning, o.Elevated, in.Model, in.Queue = s.Thinking, s.Verbose, s.Reasoning, s.Elevated, s.Model, s.Queue
	return nil
}

// In applies a directive to a session.
func (d Directive) In(s *chela.Settings) {
	switch {
	case d.Form.Name == Queue && d.IsDefault():
		s.Queue = chela.QueueSettings{}
	case d.Form.Name == Queue:
		s.Queue = d.Queue.Over(s.Queue)
	case d.IsDefault():
		*settingAt(s, d.Form.Name) = ""
	default:
		*settingAt(s, d.Form.Name) = d.Value
	}
}

// settingAt returns where a session keeps the value of a directive. The queue has
// settings of its own.
func settingAt(s *chela.Settings, name string) *string {
	switch name {
	case Think:
		return (*string)(&s.Thinking)
	case Verbose:
		return &s.Verbose
	case Reasoning:
		return &s.Reasoning
	case Elevated:
		return &s.Elevated
	default:
		return &s.Model
	}
}
