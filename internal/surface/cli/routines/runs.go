package routines

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/background/schedule"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// maxRows is how many rows a command shows.
const maxRows = 499

func (p *Program) fireCommand() *cobra.Command {
	var f api.Firing
	var wait bool
	cmd := &cobra.Command{
		Use: "fire NAME", Short: "Let a routine fire now, whatever its guards say", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h opened, args []string) error {
			id, err := h.Fire(ctx, args[0], f)
			if err == nil {
				err = p.tellOff(ctx, h, true)
			}
			if err != nil {
				return err
			}
			if !wait {
				if p.JSON {
					return p.Document(api.Fired{Run: id})
				}
				p.Fields([2]string{"run", string(id)})
				return nil
			}
			run, err := p.await(ctx, h, id)
			if err != nil {
				return err
			}
			return p.outcome(args[0], run)
		}),
	}
	cmd.Flags().StringVar(&f.Input, "input", "", "additional input of the run")
	cmd.Flags().StringVar(&f.Key, "key", "", "names the request: sent again, it fires nothing again")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for its end and print its output")
	return cmd
}

// await waits for the end of a run, and prints each reason for waiting once.
func (p *Program) await(ctx context.Context, h opened, id chela.RunID) (chela.RoutineRun, error) {
	told, waits := map[string]bool{"": true}, ""
	for {
		run, err := h.Ended(ctx, id, &waits)
		if err != nil || run.State.Ended() {
			return run, err
		}
		if waits = run.Waits; !told[waits] {
			told[waits] = true
			p.Note("waiting: " + waits)
		}
	}
}

// outcome prints the output of a run. A failed run is an error.
func (p *Program) outcome(name string, run chela.RoutineRun) error {
	if p.JSON {
		if err := p.Document(run); err != nil {
			return err
		}
	} else if run.Output != "" {
		p.Line(run.Output)
	}
	switch run.State {
	case chela.RunFailed:
		return chela.E(chela.Unavailable, "the run failed: "+run.Reason).WithHint("chela routines history " + name + " shows the ones before")
	case chela.RunSkipped:
		return chela.E(chela.Conflict, "the run was skipped: "+run.Reason).WithHint("see chela routines show " + name)
	case chela.RunOK:
		if run.Output == "" && !p.JSON {
			p.Note("it said nothing")
		}
	}
	return nil
}

func (p *Program) historyCommand() *cobra.Command {
	var limit int
	var output string
	cmd := &cobra.Command{
		Use: "history NAME", Short: "List the runs of a routine, newest first, or print the output of one", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h opened, args []string) error {
			if output != "" {
				return p.output(ctx, h, args[0], chela.RunID(output))
			}
			if err := checkRows("--limit", limit); err != nil {
				return err
			}
			runs, err := h.Runs(ctx, args[0], limit)
			if err != nil {
				return err
			}
			if p.None(len(runs), args[0]+" has not run yet; chela routines fire "+args[0]+" lets it") {
				return nil
			}
			return manners.List(p.Printer, runs, []string{"RUN", "DUE", "CAUSE", "STATE", "TOOK", "REASON"}, func(r chela.RoutineRun) []string {
				return []string{string(r.ID), h.moment(r.Due), string(r.Cause), string(r.State), took(r), terminal.OneLine(r.Reason, 80)}
			})
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many runs")
	cmd.Flags().StringVar(&output, "output", "", "print the output of this run")
	return cmd
}

func checkRows(flag string, n int) error {
	if n < 1 || n > maxRows {
		return chela.E(chela.Invalid, fmt.Sprintf("%s cannot be %d", flag, n)).WithHint(fmt.Sprintf("use 1 to %d", maxRows))
	}
	return nil
}

func took(r chela.RoutineRun) string {
	if r.StartedAt.IsZero() || r.FinishedAt.IsZero() {
		return ""
	}
	return terminal.Lasting(r.FinishedAt.Sub(r.StartedAt))
}

// output prints the output of a routine's run.
func (p *Program) output(ctx context.Context, h opened, name string, id chela.RunID) error {
	v, err := h.Named(ctx, name)
	if err != nil {
		return err
	}
	run, err := h.Run(ctx, id)
	if err == nil && run.Routine != v.ID {
		err = chela.E(chela.NotFound, "the run is of another routine")
	}
	if chela.KindOf(err) == chela.NotFound {
		return chela.E(chela.NotFound, fmt.Sprintf("%s has no run %.60q", v.Name, id)).WithHint("see chela routines history " + v.Name)
	}
	if err != nil {
		return err
	}
	switch {
	case p.JSON:
		return p.Document(run)
	case run.Output != "":
		p.Line(run.Output)
	case run.Reason != "":
		p.Note("it has no output, and is " + string(run.State) + ": " + run.Reason)
	default:
		p.Note("it has no output, and is " + string(run.State))
	}
	return nil
}

func (p *Program) nextCommand() *cobra.Command {
	var limit int
	var until string
	cmd := &cobra.Command{
		Use: "next", Short: "List the next times at which routines are due", Args: manners.Exactly(0),
		RunE: p.run(func(ctx context.Context, h opened, _ []string) error {
			if err := checkRows("--limit", limit); err != nil {
				return err
			}
			end, err := endOf(until, h.zone)
			if err != nil {
				return err
			}
			due, err := h.Next(ctx, limit)
			if err != nil {
				return err
			}
			for i, d := range due {
				if !end.IsZero() && d.At.After(end) {
					due = due[:i]
					break
				}
			}
			p.onlyWhileServed(h, len(due) > 0)
			if err := p.tellOff(ctx, h, len(due) > 0); err != nil {
				return err
			}
			if p.None(len(due), "nothing is due; chela routines list shows the routines there are") {
				return nil
			}
			return manners.List(p.Printer, due, []string{"AT", "NAME", "THERE", "FIRES"}, func(d api.Due) []string {
				return []string{h.moment(d.At), d.Name, there(d), routine.TriggerText(d.Trigger, h.zone)}
			})
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many times")
	cmd.Flags().StringVar(&until, "until", "", `none after this time, such as "2035-05-01 09:00"`)
	return cmd
}

// endOf parses the end of the listed period; zero for none.
func endOf(text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	s, err := schedule.ParseAt(text, zone)
	if err != nil {
		return time.Time{}, err
	}
	end, _ := s.Next(time.Time{})
	return end, nil
}

// the due time in the zone of its routine, if it has one
func there(d api.Due) string {
	zone, err := time.LoadLocation(d.Trigger.Zone)
	if err != nil || d.Trigger.Zone == "" {
		return ""
	}
	return d.At.In(zone).Format("15:04:05 ") + d.Trigger.Zone
}
