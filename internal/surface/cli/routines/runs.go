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
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// maxRows is how many rows a command shows.
const maxRows = 499

func (p *Program) fireCommand() *cobra.Command {
	var f api.Firing
	var wait bool
	cmd := &cobra.Command{
		Use: "fire NAME", Short: "Fire a routine now; its guards do not apply", Args: console.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Connection, args []string) error {
			fired, err := api.Call(ctx, h.API, api.RoutinesFire, api.RoutineFiring{RoutineRef: ref(args[0]), Firing: f})
			if err == nil {
				err = p.tellOff(ctx, h, true)
			}
			if err != nil {
				return err
			}
			if !wait {
				if p.JSON {
					return p.Document(fired)
				}
				p.Fields([2]string{"run", string(fired.Run)})
				return nil
			}
			run, err := p.await(ctx, h, fired.Run)
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

// waitTime is the time to wait for a run in one request.
const waitTime = 30 * time.Second

// await waits for the end of a run, and prints each reason for waiting once.
func (p *Program) await(ctx context.Context, h Connection, id chela.RunID) (chela.RoutineRun, error) {
	told, waits := map[string]bool{"": true}, ""
	for {
		run, err := api.Call(ctx, h.API, api.RunsShow, api.RunQuery{ID: id, WaitMS: waitTime.Milliseconds(), Waits: &waits})
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
		Use: "history NAME", Short: "List the runs of a routine, newest first, or print the output of one", Args: console.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Connection, args []string) error {
			if output != "" {
				return p.output(ctx, h, args[0], chela.RunID(output))
			}
			if err := checkRows("--limit", limit); err != nil {
				return err
			}
			page, err := api.Call(ctx, h.API, api.RoutinesRuns, api.RunsQuery{RoutineRef: ref(args[0]), Limit: limit})
			if err != nil {
				return err
			}
			if p.None(len(page.Items), args[0]+" has not run yet; chela routines fire "+args[0]+" lets it") {
				return nil
			}
			return console.List(p.Printer, page.Items, []string{"RUN", "DUE", "CAUSE", "STATE", "TOOK", "REASON"}, func(r chela.RoutineRun) []string {
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
func (p *Program) output(ctx context.Context, h Connection, name string, id chela.RunID) error {
	v, err := h.show(ctx, name)
	if err != nil {
		return err
	}
	run, err := api.Call(ctx, h.API, api.RunsShow, api.RunQuery{ID: id})
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
		Use: "next", Short: api.RoutinesNext.Summary, Args: console.Exactly(0),
		RunE: p.run(func(ctx context.Context, h Connection, _ []string) error {
			if err := checkRows("--limit", limit); err != nil {
				return err
			}
			end, err := endOf(until, h.Zone)
			if err != nil {
				return err
			}
			page, err := api.Call(ctx, h.API, api.RoutinesNext, api.DueQuery{Limit: limit})
			if err != nil {
				return err
			}
			due := page.Items
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
			return console.List(p.Printer, due, []string{"AT", "NAME", "THERE", "FIRES"}, func(d api.Due) []string {
				return []string{h.moment(d.At), d.Name, there(d), routine.TriggerText(d.Trigger, h.Zone)}
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
	return schedule.ParseTime(text, zone)
}

// the due time in the zone of its routine, if it has one
func there(d api.Due) string {
	zone, err := time.LoadLocation(d.Trigger.Zone)
	if err != nil || d.Trigger.Zone == "" {
		return ""
	}
	return d.At.In(zone).Format("15:04:05 ") + d.Trigger.Zone
}
