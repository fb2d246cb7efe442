package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/config"
)

// chat talks line by line until the input ends. The error of one turn is
// printed and does not end the chat.
func (c *commands) chat(ctx context.Context) error {
	return c.resume(ctx, func(cfg *config.Config, b *Backend) error {
		in, prompt := terminal.NewInput(c.Stdin), func(string) {}
		if isTerminal(c.Stdin) {
			prompt = c.p.Prompt
			c.p.Note(`chela: a line is a message, "\" at its end goes on in the next; /quit or Ctrl-D leaves`)
		}
		said := false
		for {
			prompt("> ")
			text, err := in.Message(func() { prompt("… ") })
			text = strings.TrimSpace(text)
			switch {
			case errors.Is(err, io.EOF), text == "/quit":
				return nil
			case err != nil:
				return err
			case text == "":
				continue
			}
			message, err := askFlags{}.inbound(cfg, text)
			if err != nil {
				return err
			}
			if !said {
				c.sayOffline(cfg, message)
				said = true
			}
			if err := c.exchange(ctx, b, in, message); err != nil {
				return err
			}
		}
	})
}

// exchange is one message of a chat and its answer.
func (c *commands) exchange(ctx context.Context, b *Backend, in *terminal.Input, message chela.Inbound) error {
	t := c.talk(b, in, !c.p.json)
	turn, err := t.ask(ctx, message)
	err = c.answered(ctx, t, turn, err)
	if err != nil && ctx.Err() == nil && c.p.sink.Err() == nil {
		fmt.Fprintln(c.p.Err, errorLine(err))
		return nil
	}
	return err
}

// eventLine prints an event as one line of JSON.
func (c *commands) eventLine(e chela.Event) {
	if text, err := marshal(e, ""); err == nil { // it always is: text, numbers and a time
		c.p.Text(text)
	}
}
