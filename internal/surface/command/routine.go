package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/engine/lane"
)

// A routineCommand is a command on routines with its connection to them.
type routineCommand struct {
	given
	api  api.Local
	zone *time.Location // of the owner
	off  bool           // the configuration disables all triggers
}

// routine shows and changes routines.
func (i *Interpreter) routine(ctx context.Context, g given) (lane.Command, error) {
	text, err := i.routineCommand(g).routine(ctx)
	return reply(text), err
}

// heartbeat shows and changes the heartbeat of the agent.
func (i *Interpreter) heartbeat(ctx context.Context, g given) (lane.Command, error) {
	text, err := i.routineCommand(g).heartbeat(ctx)
	return reply(text), err
}

func (i *Interpreter) routineCommand(g given) routineCommand {
	return routineCommand{g, i.api(g), i.cfg.Zone, i.cfg.RoutinesOff}
}

func (c routineCommand) named(ctx context.Context, name string) (chela.Routine, error) {
	return api.Call(ctx, c.api, api.RoutinesShow, api.RoutineRef{Name: name})
}

func (c routineCommand) all(ctx context.Context) ([]chela.Routine, error) {
	return api.All(ctx, c.api, api.RoutinesList, api.RoutineQuery{Limit: api.MaxPage})
}

// change changes a routine and returns its new state in a line.
func (c routineCommand) change(ctx context.Context, v chela.Routine, to api.RoutineChange) (string, error) {
	v, err := api.Call(ctx, c.api, api.RoutinesChange, api.RoutineEdit{RoutineRef: refOf(v), Change: to})
	return c.line(v), err
}

// runs returns up to limit runs of a routine, newest first.
func (c routineCommand) runs(ctx context.Context, v chela.Routine, limit int) ([]chela.RoutineRun, error) {
	page, err := api.Call(ctx, c.api, api.RoutinesRuns, api.RunsQuery{RoutineRef: refOf(v), Limit: limit})
	return page.Items, err
}

func refOf(v chela.Routine) api.RoutineRef { return api.RoutineRef{Name: string(v.ID)} }

// Limits of the output.
const (
	maxListedRoutines = 50
	maxRuns           = 10
	maxNext           = 10
)

// routine executes /routine and returns the reply.
func (c routineCommand) routine(ctx context.Context) (string, error) {
	word, rest := CutWord(c.args)
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "", "list":
		return c.list(ctx)
	case "next":
		return c.next(ctx)
	case "create":
		return c.create(ctx, rest)
	}
	of := map[string]func(context.Context, chela.Routine, string) (string, error){
		"show": c.show, "edit": c.edit, "enable": c.turn(true), "disable": c.turn(false), "fire": c.fire, "history": c.history, "delete": c.remove,
	}[strings.ToLower(word)]
	if of == nil {
		return "", chela.E(chela.Invalid, Quoted(word)+" is nothing that /routine does").
			WithHint("use list, show, create, edit, enable, disable, fire, history, delete or next")
	}
	name, rest := CutWord(rest)
	if name == "" {
		return "", chela.E(chela.Invalid, "no routine is named").WithHint("see /routine list")
	}
	v, err := c.named(ctx, name)
	if chela.KindOf(err) == chela.NotFound {
		return "", chela.E(chela.NotFound, "there is no routine "+Quoted(name)).WithHint("see /routine list")
	}
	if err != nil {
		return "", err
	}
	return of(ctx, v, strings.TrimSpace(rest))
}

func (c routineCommand) list(ctx context.Context) (string, error) {
	all, err := c.all(ctx)
	if err != nil {
		return "", err
	}
	lines := []string{"Routines:"}
	for _, v := range all {
		lines = append(lines, "- "+c.line(v))
	}
	switch n := len(lines) - 1; {
	case n == 0:
		return `There is no routine. /routine create tea at="2035-05-01 16:00" do=notify Tea is ready. makes one.`, nil
	case n > maxListedRoutines:
		lines = append(lines[:maxListedRoutines+1], fmt.Sprintf("and %d more", n-maxListedRoutines))
	}
	if c.off {
		lines = append(lines, off)
	}
	return strings.Join(lines, "\n"), nil
}

// off notes that all triggers are disabled.
const off = "routines.enabled is false: they fire only manually."

// line is a routine in a line.
func (c routineCommand) line(v chela.Routine) string {
	text := v.Name + ": " + routine.TriggerText(v.Trigger, c.zone)
	switch {
	case !v.Enabled && v.Reason != "":
		text += ", off: " + v.Reason
	case !v.Enabled:
		text += ", off"
	case !v.NextAt.IsZero():
		text += ", next " + c.moment(v.NextAt)
	}
	if v.Enabled && v.Failures > 0 {
		text += fmt.Sprintf(", failed %d× in a row", v.Failures)
	}
	return text
}

func (c routineCommand) moment(t time.Time) string { return chela.Moment(t, c.zone) }

func (c routineCommand) show(_ context.Context, v chela.Routine, _ string) (string, error) {
	lines := []string{c.line(v)}
	d := &routine.Draft{Routine: v, Zone: c.zone}
	for _, k := range d.Keys() {
		if shown := k.Shown(); shown != "" && k.Name != routine.Prompt {
			lines = append(lines, k.Name+"="+shown)
		}
	}
	return strings.Join(append(lines, v.Action.Text), "\n"), nil
}

func (c routineCommand) next(ctx context.Context) (string, error) {
	due, err := api.Call(ctx, c.api, api.RoutinesNext, api.DueQuery{Limit: maxNext})
	if err != nil {
		return "", err
	}
	var lines []string
	for _, d := range due.Items {
		if _, err := c.named(ctx, string(d.Routine)); err == nil { // the session may see it
			lines = append(lines, c.moment(d.At)+" "+d.Name)
		}
	}
	if len(lines) == 0 {
		return "Nothing is due.", nil
	}
	if c.off {
		lines = append(lines, off)
	}
	return strings.Join(lines, "\n"), nil
}

// turn returns the function that turns a routine on or off.
func (c routineCommand) turn(on bool) func(context.Context, chela.Routine, string) (string, error) {
	return func(ctx context.Context, v chela.Routine, _ string) (string, error) {
		return c.change(ctx, v, api.RoutineChange{Enabled: &on})
	}
}

func (c routineCommand) fire(ctx context.Context, v chela.Routine, input string) (string, error) {
	f := api.Firing{Input: input}
	if c.MessageID != "" { // a repeated delivery fires nothing again
		f.Key = c.key()
	}
	fired, err := api.Call(ctx, c.api, api.RoutinesFire, api.RoutineFiring{RoutineRef: refOf(v), Firing: f})
	return fmt.Sprintf("%s fires: %s. /routine history %s shows what becomes of it.", v.Name, fired.Run, v.Name), err
}

func (c routineCommand) history(ctx context.Context, v chela.Routine, _ string) (string, error) {
	runs, err := c.runs(ctx, v, maxRuns)
	if err != nil || len(runs) == 0 {
		return v.Name + " has not run yet.", err
	}
	var lines []string
	for _, r := range runs {
		line := c.moment(r.Due) + " " + string(r.State)
		if r.Reason != "" {
			line += ": " + r.Reason
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

func (c routineCommand) remove(ctx context.Context, v chela.Routine, _ string) (string, error) {
	_, err := api.Call(ctx, c.api, api.RoutinesDelete, refOf(v))
	return v.Name + " is deleted.", err
}

// heartbeat executes /heartbeat for the agent of a session.
func (c routineCommand) heartbeat(ctx context.Context) (string, error) {
	all, err := c.all(ctx)
	if err != nil {
		return "", err
	}
	for _, v := range all {
		if !v.Builtin || v.Agent != c.session.Agent || !strings.HasPrefix(v.Name, "heartbeat") {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(c.args)) {
		case "", "status":
			return c.beat(ctx, v)
		case "now":
			return c.fire(ctx, v, "")
		case "on":
			return c.turn(true)(ctx, v, "")
		case "off":
			return c.turn(false)(ctx, v, "")
		default:
			return "", chela.E(chela.Invalid, Quoted(c.args)+" is nothing that /heartbeat does").WithHint("use status, now, on or off")
		}
	}
	return "", chela.E(chela.NotFound, c.session.Agent+" has no heartbeat").WithHint("see chela config list for heartbeat.enabled and heartbeat.agents; chela serve makes it")
}

// beat is the state of a heartbeat, and the result of the last one.
func (c routineCommand) beat(ctx context.Context, v chela.Routine) (string, error) {
	text := c.line(v)
	runs, err := c.runs(ctx, v, 1)
	if err != nil || len(runs) == 0 {
		return text, err
	}
	last := runs[0]
	text += "\nlast " + c.moment(last.Due) + ": " + string(last.State)
	if last.Reason != "" {
		text += ", " + last.Reason
	}
	return text, nil
}
