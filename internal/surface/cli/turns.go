package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

func (c *commands) turnsCommand() *cobra.Command {
	show, trace := named("show", c.ofTurn(c.turnShow)), c.ofTurn(c.turnTrace)
	show.Short = "Show how a turn went"
	trace.Short = "Show where the time, the tokens and the money of a turn went"
	return console.Group("turns", "Look at turns and stop them",
		show, trace,
		derived(c, api.TurnsReplay, func(ctx context.Context, b *Backend, q api.TurnReplay) error {
			r, err := api.Call(ctx, b.API, api.TurnsReplay, q)
			if err != nil {
				return err
			}
			return tellReplay(c.p, r)
		}),
		derived(c, api.TurnsCancel, c.turnCancel))
}

// ofTurn returns a command about a turn with its journal and its current activity.
func (c *commands) ofTurn(show func(api.Trace) error) *cobra.Command {
	return derived(c, api.TurnsTrace, func(ctx context.Context, b *Backend, q api.TurnRef) error {
		now, err := api.Call(ctx, b.API, api.TurnsShow, api.TurnQuery{TurnRef: q})
		if err != nil {
			return err
		}
		journal, err := api.Call(ctx, b.API, api.TurnsTrace, q)
		if err != nil {
			return err
		}
		journal.Turn = now.Turn
		return show(journal)
	})
}

func (c *commands) turnShow(journal api.Trace) error {
	t, entries, calls := journal.Turn, journal.Entries, journal.Calls
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
	return console.List(c.p, calls, []string{"CALL", "STEP", "TOOL", "EFFECT", "STATE", "TOOK"}, func(t chela.ToolCall) []string {
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
func (c *commands) turnCancel(ctx context.Context, b *Backend, q api.TurnRef) error {
	if _, err := api.Call(ctx, b.API, api.TurnsCancel, q); err != nil {
		return err
	}
	t, err := b.Conversation.Follow(ctx, q.ID, func(chela.Event) {})
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(t)
	}
	c.turnFields(t)
	return nil
}
