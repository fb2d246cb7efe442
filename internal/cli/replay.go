package cli

import (
	"cmp"
	"context"
	"fmt"

	"chela"
	"chela/internal/cli/manners"
)

// turnReplay runs a turn again and tells whether it came to the same. That it
// did not is an error.
func (c *commands) turnReplay(ctx context.Context, b *Backend, id chela.TurnID) error {
	r, err := b.Turns.Replay(ctx, id)
	if err != nil {
		return manners.NotThere(err, turnHint)
	}
	if c.p.JSON {
		if err := c.p.Document(r); err != nil {
			return err
		}
	} else if err := c.replayed(r); err != nil {
		return err
	}
	if r.Same {
		return nil
	}
	return chela.E(chela.Conflict, fmt.Sprintf("turn %s comes to something else than its record", id)).
		WithHint("see whether chela or its limits have changed since")
}

func (c *commands) replayed(r chela.Replay) error {
	if d := r.Difference; d != nil {
		c.p.Fields(
			[2]string{"differs in", d.Place}, [2]string{"recorded", cmp.Or(d.Recorded, "nothing")}, [2]string{"replayed", cmp.Or(d.Replayed, "nothing")},
		)
	} else {
		c.p.Line(fmt.Sprintf("All %d entries are the same.", r.Entries))
	}
	if len(r.Prompts) == 0 {
		return nil
	}
	c.p.Line("")
	return manners.List(c.p, r.Prompts, []string{"STEP", "MESSAGES", "BYTES"}, func(s chela.StepSize) []string {
		return []string{fmt.Sprint(s.Step), fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes)}
	})
}
