package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
)

// RoutineAPI is the interface that the commands need of the home. A routine is
// identified by its name or its id, and by is the actor.
type RoutineAPI struct {
	All    func(ctx context.Context) ([]chela.Routine, error)
	Named  func(ctx context.Context, name string) (chela.Routine, error)
	Create func(ctx context.Context, v chela.Routine, by string) (chela.Routine, error)
	Change func(ctx context.Context, name string, c api.RoutineChange, by string) (chela.Routine, error)
	Delete func(ctx context.Context, name, by string) error
	Fire   func(ctx context.Context, name string, f api.Firing, by string) (chela.RunID, error)
	Runs   func(ctx context.Context, name string, before chela.RunID, limit int) ([]chela.RoutineRun, error)
	Next   func(ctx context.Context, limit int) ([]api.Due, error)

	Zone *time.Location // of the owner
	Off  bool           // the configuration disables all triggers
}

// An RoutineOrder is a command with its context.
type RoutineOrder struct {
	chela.Inbound
	Agent string
	Args  string
	Group bool // several people see the reply
}

// by says who gave an order.
func (o RoutineOrder) by() string { return "owner in " + o.Origin.Channel }

// may reports whether the session of an order may see a routine: in a group
// only routines created there.
func (o RoutineOrder) may(v chela.Routine) bool { return !o.Group || v.Session == o.Session }

// Limits of the output.
const (
	maxListedRoutines = 50
	maxRuns           = 10
	maxNext           = 10
)

// Routine executes /routine and returns the reply.
func (h RoutineAPI) Routine(ctx context.Context, o RoutineOrder) (string, error) {
	word, rest := CutWord(o.Args)
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "", "list":
		return h.list(ctx, o)
	case "next":
		return h.next(ctx, o)
	case "create":
		return h.create(ctx, o, rest)
	}
	of := map[string]func(context.Context, RoutineOrder, chela.Routine, string) (string, error){
		"show": h.show, "edit": h.edit, "enable": h.enable, "disable": h.disable, "fire": h.fire, "history": h.history, "delete": h.remove,
	}[strings.ToLower(word)]
	if of == nil {
		return "", chela.E(chela.Invalid, Quoted(word)+" is nothing that /routine does").
			WithHint("use list, show, create, edit, enable, disable, fire, history, delete or next")
	}
	name, rest := CutWord(rest)
	if name == "" {
		return "", chela.E(chela.Invalid, "no routine is named").WithHint("see /routine list")
	}
	v, err := h.Named(ctx, name)
	if chela.KindOf(err) == chela.NotFound || err == nil && !o.may(v) {
		return "", chela.E(chela.NotFound, "there is no routine "+Quoted(name)).WithHint("see /routine list")
	}
	if err != nil {
		return "", err
	}
	return of(ctx, o, v, strings.TrimSpace(rest))
}

func (h RoutineAPI) list(ctx context.Context, o RoutineOrder) (string, error) {
	all, err := h.All(ctx)
	if err != nil {
		return "", err
	}
	lines := []string{"Routines:"}
	for _, v := range all {
		if o.may(v) {
			lines = append(lines, "- "+h.line(v))
		}
	}
	switch n := len(lines) - 1; {
	case n == 0:
		return `There is no routine. /routine create tea at="2035-05-01 16:00" do=notify Tea is ready. makes one.`, nil
	case n > maxListedRoutines:
		lines = append(lines[:maxListedRoutines+1], fmt.Sprintf("and %d more", n-maxListedRoutines))
	}
	if h.Off {
		lines = append(lines, off)
	}
	return strings.Join(lines, "\n"), nil
}

// off notes that all triggers are disabled.
const off = "routines.enabled is false: they fire only manually."

// line is a routine in a line.
func (h RoutineAPI) line(v chela.Routine) string {
	text := v.Name + ": " + routine.TriggerText(v.Trigger, h.Zone)
	switch {
	case !v.Enabled && v.Reason != "":
		text += ", off: " + v.Reason
	case !v.Enabled:
		text += ", off"
	case !v.NextAt.IsZero():
		text += ", next " + h.moment(v.NextAt)
	}
	if v.Enabled && v.Failures > 0 {
		text += fmt.Sprintf(", failed %d× in a row", v.Failures)
	}
	return text
}

func (h RoutineAPI) moment(t time.Time) string { return chela.Moment(t, h.Zone) }

func (h RoutineAPI) show(_ context.Context, _ RoutineOrder, v chela.Routine, _ string) (string, error) {
	lines := []string{h.line(v)}
	d := &routine.Draft{Routine: v, Zone: h.Zone}
	for _, k := range routine.FormKeys() {
		if shown := k.Shown(d); shown != "" && k.Name != routine.Prompt {
			lines = append(lines, k.Name+"="+shown)
		}
	}
	return strings.Join(append(lines, v.Action.Text), "\n"), nil
}

func (h RoutineAPI) next(ctx context.Context, o RoutineOrder) (string, error) {
	due, err := h.Next(ctx, maxNext)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, d := range due {
		v, err := h.Named(ctx, string(d.Routine))
		if err == nil && o.may(v) {
			lines = append(lines, h.moment(d.At)+" "+d.Name)
		}
	}
	if len(lines) == 0 {
		return "Nothing is due.", nil
	}
	if h.Off {
		lines = append(lines, off)
	}
	return strings.Join(lines, "\n"), nil
}

func (h RoutineAPI) enable(ctx context.Context, o RoutineOrder, v chela.Routine, _ string) (string, error) {
	return h.turn(ctx, o, v, true)
}

func (h RoutineAPI) disable(ctx context.Context, o RoutineOrder, v chela.Routine, _ string) (string, error) {
	return h.turn(ctx, o, v, false)
}

// turn enables or disables a routine.
func (h RoutineAPI) turn(ctx context.Context, o RoutineOrder, v chela.Routine, on bool) (string, error) {
	v, err := h.Change(ctx, string(v.ID), api.RoutineChange{Enabled: &on}, o.by())
	return h.line(v), err
}

func (h RoutineAPI) fire(ctx context.Context, o RoutineOrder, v chela.Routine, input string) (string, error) {
	f := api.Firing{Input: input}
	if o.MessageID != "" { // a repeated delivery fires nothing again
		f.Key = o.Origin.Channel + " " + o.Origin.Account + " " + o.MessageID
	}
	run, err := h.Fire(ctx, string(v.ID), f, o.by())
	return fmt.Sprintf("%s fires: %s. /routine history %s shows what becomes of it.", v.Name, run, v.Name), err
}

func (h RoutineAPI) history(ctx context.Context, _ RoutineOrder, v chela.Routine, _ string) (string, error) {
	runs, err := h.Runs(ctx, string(v.ID), "", maxRuns)
	if err != nil || len(runs) == 0 {
		return v.Name + " has not run yet.", err
	}
	var lines []string
	for _, r := range runs {
		line := h.moment(r.Due) + " " + string(r.State)
		if r.Reason != "" {
			line += ": " + r.Reason
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

func (h RoutineAPI) remove(ctx context.Context, o RoutineOrder, v chela.Routine, _ string) (string, error) {
	return v.Name + " is deleted.", h.Delete(ctx, string(v.ID), o.by())
}

// Heartbeat executes /heartbeat for the agent of a session.
func (h RoutineAPI) Heartbeat(ctx context.Context, o RoutineOrder) (string, error) {
	all, err := h.All(ctx)
	if err != nil {
		return "", err
	}
	for _, v := range all {
		if !v.Builtin || v.Agent != o.Agent || !strings.HasPrefix(v.Name, "heartbeat") {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(o.Args)) {
		case "", "status":
			return h.beat(ctx, v)
		case "now":
			return h.fire(ctx, o, v, "")
		case "on":
			return h.turn(ctx, o, v, true)
		case "off":
			return h.turn(ctx, o, v, false)
		default:
			return "", chela.E(chela.Invalid, Quoted(o.Args)+" is nothing that /heartbeat does").WithHint("use status, now, on or off")
		}
	}
	return "", chela.E(chela.NotFound, o.Agent+" has no heartbeat").WithHint("see chela config list for heartbeat.enabled and heartbeat.agents; chela serve makes it")
}

// beat is the state of a heartbeat, and the result of the last one.
func (h RoutineAPI) beat(ctx context.Context, v chela.Routine) (string, error) {
	text := h.line(v)
	runs, err := h.Runs(ctx, string(v.ID), "", 1)
	if err != nil || len(runs) == 0 {
		return text, err
	}
	last := runs[0]
	text += "\nlast " + h.moment(last.Due) + ": " + string(last.State)
	if last.Reason != "" {
		text += ", " + last.Reason
	}
	return text, nil
}
