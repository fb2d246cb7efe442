// Package routines holds the commands for routines: chela routines.
package routines

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// caller carries out operations of an open home.
type caller interface {
	Do(ctx context.Context, r api.Request, out any) error
}

// A Connection is the way of these commands to an open home.
type Connection struct {
	API    caller
	Served bool           // a daemon fires routines
	Zone   *time.Location // of the owner
}

// A Program holds the dependencies of the commands.
type Program struct {
	*console.Printer
	Stdin   io.Reader
	Environ []string // for the editor

	// Open opens a home for use.
	Open func(ctx context.Context, use func(Connection) error) error
}

// Command returns the commands.
func Command(program Program) *cobra.Command {
	p := &program
	return console.Group("routines", "Show and change routines",
		p.listCommand(), p.createCommand(), p.showCommand(), p.editCommand(),
		p.switchCommand("enable", "Enable the trigger of a routine", true), p.switchCommand("disable", "Disable the trigger of a routine", false),
		p.fireCommand(), p.historyCommand(), p.deleteCommand(), p.nextCommand())
}

// run returns the body of a command on the routines of the home.
func (p *Program) run(work func(context.Context, Connection, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.Open(cmd.Context(), func(h Connection) error { return work(cmd.Context(), h, args) })
	}
}

// moment formats a time in the owner's zone.
func (h Connection) moment(t time.Time) string { return chela.Moment(t, h.Zone) }

// ref names a routine by an argument.
func ref(name string) api.RoutineRef { return api.RoutineRef{Name: name} }

// show returns a routine.
func (h Connection) show(ctx context.Context, name string) (chela.Routine, error) {
	return api.Call(ctx, h.API, api.RoutinesShow, ref(name))
}

// change changes a routine.
func (h Connection) change(ctx context.Context, name string, c api.RoutineChange) (chela.Routine, error) {
	return api.Call(ctx, h.API, api.RoutinesChange, api.RoutineEdit{RoutineRef: ref(name), Change: c})
}

func (p *Program) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: api.RoutinesList.Summary, Args: console.Exactly(0),
		RunE: p.run(func(ctx context.Context, h Connection, _ []string) error {
			all, err := api.All(ctx, h.API, api.RoutinesList, api.RoutineQuery{})
			if err != nil {
				return err
			}
			if err := p.tellOff(ctx, h, len(all) > 0); err != nil {
				return err
			}
			if p.None(len(all), "there are no routines yet; chela routines create makes one") {
				return nil
			}
			return console.List(p.Printer, all, []string{"NAME", "STATE", "FIRES", "DOES", "NEXT", "LAST"}, func(v chela.Routine) []string {
				return []string{v.Name, state(v), routine.TriggerText(v.Trigger, h.Zone), does(v), h.moment(v.NextAt), h.moment(v.LastAt)}
			})
		}),
	}
}

// state summarizes the state of a routine in a word or two.
func state(v chela.Routine) string {
	switch {
	case !v.Enabled:
		return "off"
	case v.Failures > 0:
		return fmt.Sprintf("on, failed %d×", v.Failures)
	default:
		return "on"
	}
}

func does(v chela.Routine) string {
	return string(v.Action.Kind) + ": " + terminal.OneLine(v.Action.Text, 40)
}

func (p *Program) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: api.RoutinesShow.Summary, Args: console.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Connection, args []string) error {
			v, err := h.show(ctx, args[0])
			if err != nil {
				return err
			}
			return p.routine(h, v)
		}),
	}
}

// routine prints a routine: its state and its fields.
func (p *Program) routine(h Connection, v chela.Routine) error {
	if p.JSON {
		return p.Document(v)
	}
	fields := [][2]string{
		{"name", v.Name},
		{"id", string(v.ID)},
		{"agent", v.Agent},
		{"state", state(v)},
		{"reason", v.Reason},
		{"fires", routine.TriggerText(v.Trigger, h.Zone)},
		{"next", h.moment(v.NextAt)},
		{"last", h.moment(v.LastAt)},
	}
	if v.Builtin {
		fields = append(fields, [2]string{"kept by", "chela, as the configuration says"})
	}
	draft := &routine.Draft{Routine: v, Zone: h.Zone}
	for _, k := range draft.Keys() {
		if k.Name != routine.Prompt {
			fields = append(fields, [2]string{k.Name, k.Shown()})
		}
	}
	p.Fields(told(fields)...)
	p.Line("\n" + v.Action.Text)
	return nil
}

// told returns the non-empty fields.
func told(fields [][2]string) [][2]string {
	var some [][2]string
	for _, f := range fields {
		if f[1] != "" {
			some = append(some, f)
		}
	}
	return some
}

func (p *Program) switchCommand(name, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short, Args: console.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Connection, args []string) error {
			v, err := h.change(ctx, args[0], api.RoutineChange{Enabled: &on})
			if err != nil {
				return err
			}
			return p.kept(h, v)
		}),
	}
}

// kept prints a routine that was created or changed.
func (p *Program) kept(h Connection, v chela.Routine) error {
	p.onlyWhileServed(h, v.Enabled && v.Trigger.Kind != chela.TriggerManual)
	if p.JSON {
		return p.Document(v)
	}
	p.Fields(told([][2]string{
		{"routine", v.Name}, {"state", state(v)}, {"fires", routine.TriggerText(v.Trigger, h.Zone)}, {"next", h.moment(v.NextAt)},
	})...)
	return nil
}

// tellOff notes that the configuration disables triggers, if the routine has
// one.
func (p *Program) tellOff(ctx context.Context, h Connection, fires bool) error {
	if !fires {
		return nil
	}
	s, err := api.Call(ctx, h.API, api.StatusShow, api.None{})
	if s.Routines.Off {
		p.Note("routines.enabled is false: they fire only manually; chela config set routines.enabled true lets them")
	}
	return err
}

// onlyWhileServed notes that no trigger fires without a daemon, if the routine
// has one.
func (p *Program) onlyWhileServed(h Connection, fires bool) {
	if fires && !h.Served {
		p.Note("no daemon runs on this home: routines fire only while chela serve, or the chat, runs")
	}
}

func (p *Program) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a routine; its runs stay readable by their ids", Args: console.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Connection, args []string) error {
			if _, err := api.Call(ctx, h.API, api.RoutinesDelete, ref(args[0])); err != nil {
				return err
			}
			if !p.JSON {
				p.Fields([2]string{"deleted", args[0]})
			}
			return nil
		}),
	}
}
