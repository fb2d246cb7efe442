package command

import (
	"context"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
)

// create creates a routine: a name, then its fields as key=value, then its
// prompt.
func (c routineCommand) create(ctx context.Context, args string) (string, error) {
	name, rest := CutWord(args)
	d := &routine.Draft{Zone: c.zone}
	d.Routine.Action.Kind = chela.ActionTurn
	if err := fill(d, rest); err != nil {
		return "", err
	}
	if d.Routine.Trigger.Kind == "" {
		return "", chela.E(chela.Invalid, "the routine has no trigger").
			WithHint(`write /routine create NAME every=30m PROMPT, or cron="0 9 * * *", at="2035-05-01 09:00", event=REGEX, system=SOURCE.EVENT, webhook=PATH or manual=true`)
	}
	if err := d.Check(); err != nil {
		return "", err
	}
	v, err := api.Call(ctx, c.api, api.RoutinesCreate, d.New(name, c.session.Agent))
	return c.line(v), err
}

// edit changes the fields given as key=value, and the prompt if there is one.
func (c routineCommand) edit(ctx context.Context, v chela.Routine, args string) (string, error) {
	d := &routine.Draft{Routine: v, Zone: c.zone}
	if args == "" {
		return "", chela.E(chela.Invalid, "nothing to change was given").WithHint("write it as key=value, such as every=1h; /routine show " + v.Name + " shows the keys that are set")
	}
	if err := fill(d, args); err != nil {
		return "", err
	}
	return c.change(ctx, v, routine.FormChanges(v, d.Routine))
}

// fill applies words to a draft: words of the form key=value first, and the
// rest as the prompt. A value with spaces is quoted.
func fill(d *routine.Draft, words string) error {
	for {
		words = strings.TrimSpace(words)
		name, rest, ok := strings.Cut(words, "=")
		k, known := d.Key(name)
		if !ok || !known {
			break
		}
		var value string
		if value, words, ok = cutValue(rest); !ok {
			return chela.E(chela.Invalid, "the value of "+name+" has no end").WithHint("end it with a quotation mark")
		}
		if err := k.Put(name, value); err != nil {
			return err
		}
	}
	if words != "" {
		d.Routine.Action.Text = words
	}
	return nil
}

// cutValue splits a value off a text: a quoted one, or a word.
func cutValue(text string) (value, rest string, ok bool) {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}} {
		if quoted, found := strings.CutPrefix(text, q[0]); found {
			return strings.Cut(quoted, q[1])
		}
	}
	value, rest = CutWord(text)
	return value, rest, true
}
