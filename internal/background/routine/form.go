package routine

// This part of the package reads and writes routines as lists of names and
// values: flags of a command, words of a message or lines of a file.

import (
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
	"chela/internal/platform/nearest"
)

// A Draft is a routine being edited.
type Draft struct {
	Routine chela.Routine

	// Zone is the owner's; it applies to times without a zone.
	Zone *time.Location

	chosen string // key that set the trigger
	at     string // the time as written, if any
	zoned  string // the name of the zone as written, if any
}

// Prompt is the key of the action's text.
const Prompt = "prompt"

// A FormKey is one field of a routine in the form.
type FormKey struct {
	Name   string
	Help   string // for the list of flags
	Switch bool   // a boolean

	at func(d *Draft) field.Field
}

// FormKeys returns all keys, in display order.
func FormKeys() []FormKey {
	var all []FormKey
	for _, part := range [][]FormKey{triggerKeys, actionKeys, notifyKeys, guardKeys} {
		all = append(all, part...)
	}
	return all
}

// Put sets the field of a key from text. It returns Invalid if the text does
// not parse; place is the name of the key in the error.
func (k FormKey) Put(d *Draft, place, text string) error {
	f := k.at(d)
	return put(f, place, f.Value(text))
}

func put(f field.Field, place string, value any) error {
	if err := f.Put(value); err != nil {
		return f.Refusal(place, value, err)
	}
	return nil
}

// Shown returns the value of a key as text, or "" if unset.
func (k FormKey) Shown(d *Draft) string {
	text := k.at(d).Show()
	if text == "0" || text == "0s" || text == "false" || text == "[]" {
		return ""
	}
	return text
}

// FormText writes a draft as a TOML file that Parse reads. Unset keys become
// comments.
func FormText(d *Draft) string {
	var b strings.Builder
	for _, k := range FormKeys() {
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
func (k FormKey) bare(d *Draft) bool {
	f := k.at(d)
	_, isText := f.Value(f.Show()).(string)
	return !isText
}

// long writes text of several lines as a TOML multi-line string.
func long(text string) string {
	return `"""` + "\n" + strings.NewReplacer(`\`, `\\`, `"""`, `""\"`).Replace(text) + `"""`
}

// ParseForm reads a draft from the lines of a TOML file. Fields without a key come
// from the draft from. Name is the name of the file in errors.
func ParseForm(name, text string, from Draft) (*Draft, error) {
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
	for _, k := range FormKeys() {
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

// Check returns Invalid if a draft lacks a trigger or a prompt.
func (d *Draft) Check() error {
	switch {
	case d.Routine.Trigger.Kind == "":
		return chela.E(chela.Invalid, "the routine has no trigger").
			WithHint("set one of cron, every, at, event, system, webhook and manual")
	case strings.TrimSpace(d.Routine.Action.Text) == "":
		return chela.E(chela.Invalid, "the routine has no action").WithHint("set prompt")
	}
	return nil
}

func known(name string) bool {
	_, ok := FindFormKey(name)
	return ok
}

// FindFormKey returns the key of a name.
func FindFormKey(name string) (FormKey, bool) {
	for _, k := range FormKeys() {
		if k.Name == name {
			return k, true
		}
	}
	return FormKey{}, false
}

func unknown(place, name string) error {
	var names []string
	for _, k := range FormKeys() {
		names = append(names, k.Name)
	}
	hint := "use one of " + strings.Join(names, ", ")
	if near := nearest.Name(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return chela.E(chela.Invalid, fmt.Sprintf("%sa routine has no %q", place, field.Cut(name))).WithHint(hint)
}
