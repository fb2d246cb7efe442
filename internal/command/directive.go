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

// isDefault reports whether the directive takes a setting back.
func (d Directive) isDefault() bool { return d.Value == standard }

// read takes what belongs to a directive from the front of the text behind its
// name: a word of its line, and for the queue as many as fit.
func read(form Form, after string) (d Directive, rest string, err error) {
	d.Form = form
	if form.Name == queue {
		return readQueue(form, after)
	}
	word, rest := cutWord(after)
	value := strings.ToLower(word)
	switch {
	case word == "":
		return d, rest, chela.E(chela.Invalid, "/"+form.Name+" needs a value where something follows").
			WithHint("write " + choices(form) + " behind it, or " + asText)
	case value == standard:
		d.Value = standard
	case form.Name == model:
		if provider, name, ok := strings.Cut(word, "/"); !ok || provider == "" || name == "" {
			return d, rest, chela.E(chela.Invalid, quoted(word)+" is no model").
				WithHint("write PROVIDER/MODEL, as /model list shows them, or " + asText)
		}
		d.Value = word
	case !slices.Contains(form.Values, value):
		return d, rest, notOf(form.Name, word, append(slices.Clone(form.Values), standard)).
			WithHint("use " + choices(form) + ", or " + asText)
	default:
		d.Value = value
	}
	return d, rest, nil
}

func choices(form Form) string {
	if len(form.Values) == 0 {
		return "PROVIDER/MODEL"
	}
	return oneOf(form.Values)
}

// readQueue reads a mode, options or both.
func readQueue(form Form, after string) (d Directive, rest string, err error) {
	d.Form, rest = form, after
	for n := 0; ; n++ {
		word, left := cutWord(rest)
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
			return d, rest, chela.E(chela.Invalid, cmp.Or(quotedWord(word), "nothing")+" is no way to wait").
				WithHint("use " + oneOf(form.Values) + ", or " + asText)
		default:
			return d, rest, nil
		}
		rest = left
	}
}

func quotedWord(word string) string {
	if word == "" {
		return ""
	}
	return quoted(word)
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
		return chela.E(chela.Invalid, fmt.Sprintf("%s cannot be %s", key, quoted(value))).WithHint("use " + want)
	}
	*q = set.Over(*q)
	return nil
}

// duration is a time as people write it; a number alone is milliseconds.
func duration(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(n) * time.Millisecond, nil
	}
	return time.ParseDuration(text)
}

// cutWord cuts the next word of the same line from the front of a text.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t")
	end := strings.IndexAny(text, " \t\r\n")
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// on sets what a directive says for one message. It is Invalid to take a setting
// back there.
func (d Directive) on(in *chela.Inbound) error {
	if d.isDefault() {
		return chela.E(chela.Invalid, "/"+d.Form.Name+" default is for the session").WithHint("send it alone")
	}
	o := &in.Overrides
	switch d.Form.Name {
	case think:
		o.Thinking = chela.ThinkingLevel(d.Value)
	case verbose:
		o.Verbose = d.Value
	case reasoning:
		o.Reasoning = d.Value
	case elevated:
		o.Elevated = d.Value
	case model:
		in.Model = d.Value
	case queue:
		in.Queue = d.Queue.Over(in.Queue)
	}
	return nil
}

// in sets what a directive says for a session.
func (d Directive) in(s *chela.Settings) {
	value := d.Value
	if d.isDefault() {
		value = ""
	}
	switch d.Form.Name {
	case think:
		s.Thinking = chela.ThinkingLevel(value)
	case verbose:
		s.Verbose = value
	case reasoning:
		s.Reasoning = value
	case elevated:
		s.Elevated = value
	case model:
		s.Model = value
	case queue:
		if d.isDefault() {
			s.Queue = chela.QueueSettings{}
		} else {
			s.Queue = d.Queue.Over(s.Queue)
		}
	}
}
