// Package form is a routine as people write it: a list of names and values, which
// are the flags of a command, the words of a message or the lines of a file.
package form

import (
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
	"chela/internal/nearest"
)

// A Draft is a routine that is being written.
type Draft struct {
	Routine chela.Routine

	// Zone is the owner's: times without one are read in it.
	Zone *time.Location

	chosen string // the key that said what makes it fire
	at     string // the time that was written, if one was
	zoned  string // the name of the zone that was written, likewise
}

// Prompt is the key of what is asked or told.
const Prompt = "prompt"

// A Key is one thing that can be said of a routine.
type Key struct {
	Name   string
	Help   string // for a list of flags
	Switch bool   // it is true or false

	at func(d *Draft) field.Field
}

// Keys returns all keys, in the order in which they are shown.
func Keys() []Key {
	var all []Key
	for _, part := range [][]Key{triggerKeys, actionKeys, notifyKeys, guardKeys} {
		all = append(all, part...)
	}
	return all
}

// Put sets what a key says, as text has it. What cannot be is Invalid; place is
// what the message calls the key.
func (k Key) Put(d *Draft, place, text string) error {
	f := k.at(d)
	return put(f, place, f.Value(text))
}

func put(f field.Field, place string, value any) error {
	if err := f.Put(value); err != nil {
		return f.Refusal(place, value, err)
	}
	return nil
}

// Shown returns what a key says, or "" where it says nothing.
func (k Key) Shown(d *Draft) string {
	text := k.at(d).Show()
	if text == "0" || text == "0s" || text == "false" || text == "[]" {
		return ""
	}
	return text
}

// Text writes a draft as the lines of a TOML file that Parse reads. Keys that say
// nothing are comments.
func Text(d *Draft) string {
	var b strings.Builder
	for _, k := range Keys() {
		shown := k.Shown(d)
		switch {
		case shown == "":
			fmt.Fprintf(&b, "# %s =    # %s\n", k.Name, k.Help)
		case strings.Contains(shown, "\n"):
			fmt.Fprintf(&b, "%s = %s\n", k.Name, long(shown))
		case k.bare(d):
			fmt.Fprintf(&b, "%s = %s\n", k.Name, shown)
		default:
			fmt.Fprintf(&b, "%s = %s\n", k.Name, tomlfile.Quote(shown))
		}
	}
	return b.String()
}

// bare reports whether a value is written without quotes.
func (k Key) bare(d *Draft) bool {
	f := k.at(d)
	_, isText := f.Value(f.Show()).(string)
	return !isText
}

// long writes text of several lines as TOML does.
func long(text string) string {
	return `"""` + "\n" + strings.NewReplacer(`\`, `\\`, `"""`, `""\"`).Replace(text) + `"""`
}

// Parse returns the draft that the lines of a file describe, made out of nothing but
// what from is besides them. Name is what messages call the file.
func Parse(name, text string, from Draft) (*Draft, error) {
	f, err := tomlfile.Parse(name, []byte(text))
	if err != nil {
		return nil, err
	}
	d := &Draft{Zone: from.Zone, Routine: from.Routine}
	d.Routine.Description, d.Routine.DeleteAfterRun = "", false
	d.Routine.Trigger, d.Routine.Action = chela.Trigger{}, chela.RoutineAction{Kind: chela.ActionTurn}
	d.Routine.Guards, d.Routine.Notify = chela.RoutineGuards{}, chela.RoutineNotify{}
	given := map[string]tomlfile.Node{}
	for _, n := range f.Nodes {
		if n.Kind != tomlfile.Pair || len(n.Path) != 1 || !known(n.Path[0]) {
			return nil, unknown(fmt.Sprintf("%s:%d: ", name, n.Line), tomlfile.Join(n.Path))
		}
		given[n.Path[0]] = n
	}
	for _, k := range Keys() {
		n, ok := given[k.Name]
		if !ok {
			continue
		}
		if err := put(k.at(d), fmt.Sprintf("%s:%d: %s", name, n.Line, k.Name), n.Value); err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

// Check returns an Invalid error if a draft lacks what every routine has.
func (d *Draft) Check() error {
	switch {
	case d.Routine.Trigger.Kind == "":
		return chela.E(chela.Invalid, "it is not said what makes the routine fire").
			WithHint("say one of cron, every, at, event, system, webhook and manual")
	case strings.TrimSpace(d.Routine.Action.Text) == "":
		return chela.E(chela.Invalid, "it is not said what the routine does").WithHint("say it as its prompt")
	}
	return nil
}

func known(name string) bool {
	_, ok := Find(name)
	return ok
}

// Find returns the key of a name.
func Find(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

func unknown(place, name string) error {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	hint := "use one of " + strings.Join(names, ", ")
	if near := nearest.Name(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return chela.E(chela.Invalid, fmt.Sprintf("%sa routine has no %q", place, field.Cut(name))).WithHint(hint)
}
