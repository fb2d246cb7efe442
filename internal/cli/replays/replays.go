// Package replays holds the command that runs a turn again.
package replays

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/cli/manners"
)

// A Func runs a turn again; see the Replay of an open home.
type Func func(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error)

// An InFunc returns what a command runs to open a home for use.
type InFunc func(use func(ctx context.Context, replay Func, args []string) error) func(*cobra.Command, []string) error

// Command returns the command. It writes to p. Hint tells where the ids of turns
// are.
func Command(p *manners.Printer, in InFunc, hint string) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use: "replay ID", Short: "Run a turn again from its record and tell what differs", Args: manners.Exactly(1),
		RunE: in(func(ctx context.Context, replay Func, args []string) error {
			r, err := replay(ctx, chela.TurnID(args[0]), live)
			if err != nil {
				return manners.NotThere(err, hint)
			}
			return tell(p, r)
		}),
	}
	cmd.Flags().BoolVar(&live, "live", false, "also give the same messages to the model again, in a thread of their own")
	return cmd
}

// tell prints what came of it. That the turn did not come to the same is an
// error.
func tell(p *manners.Printer, r chela.Replay) error {
	show := write
	if p.JSON {
		show = func(p *manners.Printer, r chela.Replay) error { return p.Document(r) }
	}
	if err := show(p, r); err != nil || r.Same {
		return err
	}
	return chela.E(chela.Conflict, fmt.Sprintf("turn %s comes to something else than its record", r.Turn)).
		WithHint("see whether chela or its limits have changed since")
}

// write shows what came of it to people.
func write(p *manners.Printer, r chela.Replay) error {
	if d := r.Difference; d != nil {
		p.Fields(
			[2]string{"differs in", d.Place}, [2]string{"recorded", cmp.Or(d.Recorded, "nothing")}, [2]string{"replayed", cmp.Or(d.Replayed, "nothing")},
		)
	} else {
		p.Line(fmt.Sprintf("All %d entries are the same.", r.Entries))
	}
	if l := r.Live; l != nil {
		p.Line("")
		p.Fields(
			[2]string{"live turn", string(l.Turn)}, [2]string{"live thread", string(l.Thread)},
			[2]string{"recorded", ended(r.Recorded)}, [2]string{"live", ended(l.Ending)},
		)
	}
	if len(r.Prompts) == 0 {
		return nil
	}
	p.Line("")
	return manners.List(p, r.Prompts, []string{"STEP", "MESSAGES", "BYTES"}, func(s chela.StepSize) []string {
		return []string{fmt.Sprint(s.Step), fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes)}
	})
}

// ended tells on one line how a turn ended.
func ended(e chela.Ending) string {
	text := fmt.Sprintf("%s after %d steps", e.State, e.Steps)
	if e.Failure != nil {
		text += " (" + e.Failure.Message + ")"
	}
	if e.Answer != "" {
		text += ": " + e.Answer
	}
	return text
}
