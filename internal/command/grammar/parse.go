package grammar

import (
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/nearest"
)

// A Parsed is a text taken apart: a command, or directives and what is left.
type Parsed struct {
	Command    *Command // nil where the text is none
	Directives []Directive
	Text       string // for the agent
}

// Overrides returns what the directives set for a message and its turn.
func (p Parsed) Overrides() chela.Overrides {
	var in chela.Inbound
	for _, d := range p.Directives {
		_ = d.On(&in) // what cannot be set is refused where the message is accepted
	}
	return in.Overrides
}

// A Command is a command that was given.
type Command struct {
	Form Form
	Args string // what follows the name, without blanks around it
}

// Parse takes a text apart. It is an Invalid error if the text looks like a
// command and is none, or cannot be carried out as it is written; the error says
// what to write instead. A text that is no order comes back as it is.
func Parse(text string) (Parsed, error) {
	rest := strings.TrimSpace(text)
	if escaped, ok := strings.CutPrefix(rest, "//"); ok {
		return Parsed{Text: "/" + escaped}, nil
	}
	name, after, ok := cutName(rest)
	if !ok {
		return within(Parsed{Text: text}), nil
	}
	form, known := Find(name)
	switch {
	case !known:
		if err := slip(name, after); err != nil {
			return Parsed{}, err
		}
		return within(Parsed{Text: text}), nil
	case form.kind != directive:
		return command(form, after)
	default:
		return leading(rest)
	}
}

func command(form Form, args string) (Parsed, error) {
	if args = strings.TrimSpace(args); args != "" && form.Args == "" {
		return Parsed{}, chela.E(chela.Invalid, "/"+form.Name+" takes nothing behind it").WithHint(asText)
	}
	return Parsed{Command: &Command{form, args}}, nil
}

// asText tells how to send what is taken for a command.
const asText = "put another / in front to send it to the agent"

// leading takes the directives from the front of a text.
func leading(rest string) (p Parsed, err error) {
	for first := true; ; first = false {
		name, after, ok := cutName(rest)
		form, known := Find(name)
		switch {
		case !ok || !known:
			if first {
				return p, nil
			}
			if escaped, ok := strings.CutPrefix(rest, "//"); ok {
				rest = "/" + escaped
			}
			p.Text = rest
			return within(p), nil
		case form.kind != directive:
			return Parsed{}, chela.E(chela.Invalid, "/"+form.Name+" cannot stand behind /"+p.Directives[len(p.Directives)-1].Form.Name).
				WithHint("send it alone")
		case first && asks(form, after):
			return command(form, after)
		}
		d, left, err := read(form, after)
		if err != nil {
			return Parsed{}, err
		}
		p.Directives = append(p.Directives, d)
		rest = strings.TrimSpace(left)
	}
}

// asks reports whether a directive that stands alone asks for a setting instead
// of changing it.
func asks(form Form, after string) bool {
	after = strings.ToLower(strings.TrimSpace(after))
	return after == "" || form.Name == Model && after == "list"
}

// within takes the directives out that have a line of their own between others,
// but for those inside a fenced block: whatever is in there is quoted.
func within(p Parsed) Parsed {
	if !strings.Contains(p.Text, "\n") || !strings.Contains(p.Text, "/") {
		return p
	}
	var kept []string
	fenced, taken := false, false
	for _, line := range strings.Split(p.Text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		found, ok := onlyDirectives(line)
		if ok && !fenced {
			p.Directives, taken = append(p.Directives, found...), true
			continue
		}
		kept = append(kept, line)
	}
	if taken {
		p.Text = strings.TrimSpace(strings.Join(kept, "\n"))
	}
	return p
}

// onlyDirectives returns the directives of a line, and whether it has some and
// nothing else.
func onlyDirectives(line string) (found []Directive, ok bool) {
	rest := strings.TrimSpace(line)
	for rest != "" {
		name, after, _ := cutName(rest)
		form, known := Find(name)
		if !known || form.kind != directive {
			return nil, false
		}
		d, left, err := read(form, after)
		if err != nil {
			return nil, false
		}
		found, rest = append(found, d), strings.TrimSpace(left)
	}
	return found, len(found) > 0
}

// cutName cuts the name of a command from the front of a text: "/name", which
// may end with a colon, and then a blank or nothing.
func cutName(text string) (name, after string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNameLetter(r) })
	if end < 0 {
		end = len(rest)
	}
	name, after = rest[:end], strings.TrimPrefix(rest[end:], ":")
	if name == "" || after != "" && !strings.ContainsAny(after[:1], " \t\r\n") {
		return "", "", false
	}
	return name, after, true
}

func isNameLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '-' || r == '_' || r == '?'
}

// slip returns an error if a word was probably meant for a command: one that
// stands alone, or misses a name by one letter.
func slip(word, after string) error {
	var names []string
	for _, f := range table {
		names = append(append(names, f.Name), f.Aliases...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return len(n) < 3 }) // whatever is short is near to them
	word = strings.ToLower(word)
	misses := func(n string) bool { return len(word) >= 4 && len(n) >= 4 && nearest.Distance(word, n) <= 1 }
	if strings.TrimSpace(after) != "" && !slices.ContainsFunc(names, misses) {
		return nil
	}
	e := chela.E(chela.Invalid, "no command /"+Shortened(word))
	if near := nearest.Name(word, names); near != "" {
		return e.WithHint("did you mean /" + near + "? otherwise " + asText)
	}
	return e.WithHint("see /help, or " + asText)
}

// Unknown returns the error for a name that no command has, with the nearest one.
func Unknown(name string) error { return slip(name, "") }

// Quoted is a word of a person in an error.
func Quoted(word string) string { return fmt.Sprintf("%q", Shortened(word)) }

// Shortened is a word of a person, cut where it is too long for a line.
func Shortened(word string) string { return excerpt.Runes(word, 40) }

// OneOf lists what somebody may choose from.
func OneOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
