package routines

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// maxPiped limits a prompt read from standard input, in bytes.
const maxPiped = 100_000

// keyFlags adds a flag for each field of a routine.
func keyFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	for _, k := range new(routine.Draft).Keys() {
		if k.Switch() {
			flags.Bool(k.Name, false, k.Help)
		} else {
			flags.String(k.Name, "", k.Help)
		}
	}
}

// fill applies the flags to a draft, and reports whether any was set.
func fill(d *routine.Draft, cmd *cobra.Command) (some bool, err error) {
	for _, k := range d.Keys() {
		f := cmd.Flags().Lookup(k.Name)
		if !f.Changed {
			continue
		}
		some = true
		if err := k.Put("--"+k.Name, f.Value.String()); err != nil {
			return some, err
		}
	}
	return some, nil
}

func (p *Program) createCommand() *cobra.Command {
	var agent, file string
	var disabled bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a routine; the prompt is --prompt or standard input", Args: console.Exactly(1),
		Example: "  chela routines create morning --cron \"0 9 * * MON-FRI\" --zone Europe/Zurich --prompt \"What is in my calendar today?\"\n" +
			"  chela routines create ci --webhook ci/build --scheme github --secret env:CI_SECRET --prompt \"Say what broke.\"\n" +
			"  chela routines create tea --at \"2035-05-01 16:00\" --do notify --prompt \"Tea is ready.\" --once",
	}
	cmd.RunE = p.run(func(ctx context.Context, h Connection, args []string) error {
		d := &routine.Draft{Zone: h.Zone}
		if file != "" {
			var err error
			if d, err = readFile(file, *d); err != nil {
				return err
			}
		}
		if d.Routine.Action.Kind == "" {
			d.Routine.Action.Kind = chela.ActionTurn
		}
		if _, err := fill(d, cmd); err != nil {
			return err
		}
		if err := p.piped(d); err != nil {
			return err
		}
		if err := check(d); err != nil {
			return err
		}
		q := d.New(args[0], agent)
		q.Disabled = disabled
		made, err := api.Call(ctx, h.API, api.RoutinesCreate, q)
		if err != nil {
			return err
		}
		return p.kept(h, made)
	})
	keyFlags(cmd)
	cmd.Flags().StringVar(&agent, "agent", chela.MainAgent, "whose routine")
	cmd.Flags().StringVar(&file, "file", "", "read fields without a flag from a file, as chela routines edit writes it")
	cmd.Flags().BoolVar(&disabled, "disabled", false, "do not let it fire yet")
	return cmd
}

// piped reads the prompt from standard input, if no flag sets it.
func (p *Program) piped(d *routine.Draft) error {
	if d.Routine.Action.Text != "" || !terminal.IsPiped(p.Stdin) {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(p.Stdin, maxPiped))
	if err != nil {
		return chela.E(chela.Unavailable, "standard input cannot be read").WithHint("see where it comes from").Because(err)
	}
	d.Routine.Action.Text = strings.TrimSpace(string(raw))
	return nil
}

// check checks a draft, and words errors in terms of flags.
func check(d *routine.Draft) error {
	switch err := d.Check(); {
	case err == nil:
		return nil
	case d.Routine.Trigger.Kind == "":
		return chela.E(chela.Invalid, "the routine has no trigger").
			WithHint(`add --cron "0 9 * * *", --every 30m, --at "2035-05-01 09:00", --event REGEX, --system SOURCE.EVENT, --webhook PATH or --manual`)
	default:
		return chela.E(chela.Invalid, "the routine has no action").WithHint("add --prompt TEXT, or pipe it in")
	}
}

// readFile reads a draft from a file.
func readFile(name string, from routine.Draft) (*routine.Draft, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, chela.E(chela.Invalid, "cannot read "+name).WithHint("name a file that you may read").Because(err)
	}
	return routine.ParseForm(name, string(raw), from)
}

func (p *Program) editCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Change a routine, by flags or in $EDITOR", Args: console.Exactly(1),
		Example: "  chela routines edit morning --cron \"30 8 * * MON-FRI\"\n  EDITOR=nano chela routines edit morning",
	}
	cmd.RunE = p.run(func(ctx context.Context, h Connection, args []string) error {
		v, err := h.show(ctx, args[0])
		if err != nil {
			return err
		}
		d := &routine.Draft{Routine: v, Zone: h.Zone}
		if file != "" {
			if d, err = readFile(file, *d); err != nil {
				return err
			}
		}
		some, err := fill(d, cmd)
		if err != nil {
			return err
		}
		if !some && file == "" {
			if d, err = p.edited(ctx, d); err != nil {
				return err
			}
		}
		changed, err := h.change(ctx, args[0], routine.FormChanges(v, d.Routine))
		if err != nil {
			return err
		}
		return p.kept(h, changed)
	})
	keyFlags(cmd)
	cmd.Flags().StringVar(&file, "file", "", "take all from a file, as the editor shows it")
	return cmd
}
