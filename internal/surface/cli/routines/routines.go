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
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// Home is the interface that the commands need of an open home. A routine is
// identified by its name or its id.
type Home struct {
	All    func(ctx context.Context) ([]chela.Routine, error)
	Named  func(ctx context.Context, name string) (chela.Routine, error)
	Create func(ctx context.Context, n api.NewRoutine) (chela.Routine, error)
	Change func(ctx context.Context, name string, c api.RoutineChange) (chela.Routine, error)
	Delete func(ctx context.Context, name string) error
	Fire   func(ctx context.Context, name string, f api.Firing) (chela.RunID, error)

	// Runs returns runs without their outputs, the newest first.
	Runs func(ctx context.Context, name string, limit int) ([]chela.RoutineRun, error)
	Run  func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error)

	// Ended waits until a run has ended; given the reason it was last seen
	// waiting for, it also returns when that changes.
	Ended func(ctx context.Context, id chela.RunID, seen *string) (chela.RoutineRun, error)

	Next func(ctx context.Context, limit int) ([]api.Due, error)

	// Off reports whether the configuration disables all triggers.
	Off func(ctx context.Context) (bool, error)

	// Served reports whether a daemon fires routines.
	Served bool
}

// A Program holds the dependencies of the commands.
type Program struct {
	*manners.Printer
	Stdin   io.Reader
	Environ []string // for the editor

	// Open opens a home and passes it, and the zone of its owner, to use.
	Open func(ctx context.Context, use func(Home, *time.Location) error) error
}

// Command returns the commands.
func Command(program Program) *cobra.Command {
	p := &program
	return manners.Group("routines", "Show and change routines",
		p.listCommand(), p.createCommand(), p.showCommand(), p.editCommand(),
		p.switchCommand("enable", "Let a routine fire", true), p.switchCommand("disable", "Disable the trigger of a routine", false),
		p.fireCommand(), p.historyCommand(), p.deleteCommand(), p.nextCommand())
}

// An opened is an open home and the zone of its owner.
type opened struct {
	Home
	zone *time.Location
}

// run returns the body of a command on the routines of the home.
func (p *Program) run(work func(context.Context, opened, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.Open(cmd.Context(), func(h Home, zone *time.Location) error {
			return work(cmd.Context(), opened{h, zone}, args)
		})
	}
}

// moment formats a time in the owner's zone.
func (o opened) moment(t time.Time) string { return chela.Moment(t, o.zone) }

func (p *Program) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the routines", Args: manners.Exactly(0),
		RunE: p.run(func(ctx context.Context, h opened, _ []string) error {
			all, err := h.All(ctx)
			if err != nil {
				return err
			}
			if err := p.tellOff(ctx, h, len(all) > 0); err != nil {
				return err
			}
			if p.None(len(all), "there are no routines yet; chela routines create makes one") {
				return nil
			}
			return manners.List(p.Printer, all, []string{"NAME", "STATE", "FIRES", "DOES", "NEXT", "LAST"}, func(v chela.Routine) []string {
				return []string{v.Name, state(v), routine.TriggerText(v.Trigger, h.zone), does(v), h.moment(v.NextAt), h.moment(v.LastAt)}
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
		Use: "show NAME", Short: "Show a routine", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h opened, args []string) error {
			v, err := h.Named(ctx, args[0])
			if err != nil {
				return err
			}
			return p.routine(h, v)
		}),
	}
}

// routine prints a routine: its state and its fields.
func (p *Program) routine(h opened, v chela.Routine) error {
	if p.JSON {
		return p.Document(v)
	}
	fields := [][2]string{
		{"name", v.Name},
		{"id", string(v.ID)},
		{"agent", v.Agent},
		{"state", state(v)},
		{"reason", v.Reason},
		{"fires", routine.TriggerText(v.Trigger, h.zone)},
		{"next", h.moment(v.NextAt)},
		{"last", h.moment(v.LastAt)},
	}
	if v.Builtin {
		fields = append(fields, [2]string{"kept by", "chela, as the configuration says"})
	}
	draft := &routine.Draft{Routine: v, Zone: h.zone}
	for _, k := range routine.FormKeys() {
		if k.Name != routine.Prompt {
			fields = append(fields, [2]string{k.Name, k.Shown(draft)})
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
		Use: name + " NAME", Short: short, Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h opened, args []string) error {
			v, err := h.Change(ctx, args[0], api.RoutineChange{Enabled: &on})
			if err != nil {
				return err
			}
			return p.kept(h, v)
		}),
	}
}

// kept prints a routine that was created or changed.
func (p *Program) kept(h opened, v chela.Routine) error {
	p.onlyWhileServed(h, v.Enabled && v.Trigger.Kind != chela.TriggerManual)
	if p.JSON {
		return p.Document(v)
	}
	p.Fields(told([][2]string{
		{"routine", v.Name}, {"state", state(v)}, {"fires", routine.TriggerText(v.Trigger, h.zone)}, {"next", h.moment(v.NextAt)},
	})...)
	return nil
}

// tellOff notes that the configuration disables triggers, if the routine has
// one.
func (p *Program) tellOff(ctx context.Context, h opened, fires bool) error {
	if !fires {
		return nil
	}
	off, err := h.Off(ctx)
	if off {
		p.Note("routines.enabled is false: they fire only manually; chela config set routines.enabled true lets them")
	}
	return err
}

// onlyWhileServed notes that no trigger fires without a daemon, if the routine
// has one.
func (p *Program) onlyWhileServed(h opened, fires bool) {
	if fires && !h.Served {
		p.Note("no daemon runs on this home: routines fire only while chela serve, or the chat, runs")
	}
}

func (p *Program) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a routine; its runs stay readable by their ids", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h opened, args []string) error {
			if err := h.Delete(ctx, args[0]); err != nil {
				return err
			}
			if !p.JSON {
				p.Fields([2]string{"deleted", args[0]})
			}
			return nil
		}),
	}
}
