package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

const turnHint = "chela threads show ID --json names the turns of a thread"

func (c *commands) turnsCommand() *cobra.Command {
	return manners.Group("turns", "Look at turns and stop them",
		&cobra.Command{
			Use: "show ID", Short: "Show how a turn went", Args: manners.Exactly(1),
			RunE: c.ofTurn(c.turnShow),
		},
		&cobra.Command{
			Use: "trace ID", Short: "Show where the time, the tokens and the money of a turn went", Args: manners.Exactly(1),
			RunE: c.ofTurn(c.turnTrace),
		},
		newReplayCommand(c.p, c.replaying, turnHint),
		&cobra.Command{
			Use: "cancel ID", Short: "Stop a turn", Args: manners.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.turnCancel(ctx, b, chela.TurnID(args[0]))
			}),
		},
	)
}

// replaying lets use run turns of an open home again.
func (c *commands) replaying(use func(context.Context, replayFunc, []string) error) func(*cobra.Command, []string) error {
	return c.inHome(func(ctx context.Context, b *Backend, args []string) error { return use(ctx, b.Turns.Replay, args) })
}

// ofTurn runs a command about a turn with its transcript.
func (c *commands) ofTurn(show func(context.Context, *Backend, told) error) func(*cobra.Command, []string) error {
	return c.inHome(func(ctx context.Context, b *Backend, args []string) error {
		id := chela.TurnID(args[0])
		t, err := b.Turns.Turn(ctx, id)
		if err != nil {
			return manners.NotThere(err, turnHint)
		}
		entries, calls, err := b.Turns.Transcript(ctx, id)
		if err != nil {
			return err
		}
		return show(ctx, b, told{t, entries, calls})
	})
}

// told is the transcript of a turn.
type told struct {
	turn    chela.Turn
	entries []chela.Entry
	calls   []chela.ToolCall
}

func (c *commands) turnShow(_ context.Context, _ *Backend, in told) error {
	t, entries, calls := in.turn, in.entries, in.calls
	if c.p.JSON {
		return c.p.Document(struct {
			chela.Turn
			Entries []chela.Entry    `json:"entries"`
			Calls   []chela.ToolCall `json:"calls"`
		}{t, entries, calls})
	}
	c.turnFields(t)
	for _, e := range entries {
		c.p.Entry(e)
	}
	if len(calls) == 0 {
		return nil
	}
	c.p.Line("")
	return manners.List(c.p, calls, []string{"CALL", "STEP", "TOOL", "EFFECT", "STATE", "TOOK"}, func(t chela.ToolCall) []string {
		return []string{string(t.ID), fmt.Sprint(t.Step), t.Tool, string(t.Effect), string(t.State), took(t.StartedAt, t.FinishedAt)}
	})
}

func (c *commands) turnFields(t chela.Turn) {
	failure := ""
	if t.Failure != nil {
		failure = t.Failure.Message
	}
	c.p.Fields(
		[2]string{"turn", string(t.ID)}, [2]string{"session", string(t.Session)}, [2]string{"thread", string(t.Thread)},
		[2]string{"state", string(t.State)}, [2]string{"activity", string(t.Activity)}, [2]string{"failure", failure}, [2]string{"model", t.Model},
		[2]string{"steps", fmt.Sprint(t.Steps)}, [2]string{"created", terminal.Moment(t.CreatedAt)},
		[2]string{"took", took(t.CreatedAt, t.FinishedAt)},
	)
}

// took formats a duration, if it began and ended.
func took(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return terminal.Lasting(to.Sub(from))
}

// turnCancel stops a turn and waits for its end.
func (c *commands) turnCancel(ctx context.Context, b *Backend, id chela.TurnID) error {
	if err := b.Conversation.Stop(ctx, id); err != nil {
		return manners.NotThere(err, turnHint)
	}
	t, err := b.Conversation.Follow(ctx, id, func(chela.Event) {})
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(t)
	}
	c.turnFields(t)
	return nil
}
