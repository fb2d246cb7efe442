package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela/internal/surface/cli/talk"
)

func (c *commands) askCommand() *cobra.Command {
	var o talk.Options
	cmd := &cobra.Command{
		Use:   "ask [flags] [TEXT]",
		Short: "Ask one thing and print the answer",
		Long: "Send a message and print the answer. Standard input is added to the text; if there is\n" +
			"a text, standard input is ignored unless it starts within a few seconds.\n\n" +
			"The text may be a command or begin with directives (chela ask /help lists them), except\n" +
			"/elevated, which works in a chat on a terminal only. With standard input, or with\n" +
			"--approve never, all of it is plain text for the agent.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), o, strings.Join(args, " "))
		},
	}
	c.providerFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar((*string)(&o.Session), "session", "", "session key (default: the agent's main session)")
	flags.StringVar((*string)(&o.Thread), "thread", "", "thread of the session (default: its current one)")
	flags.StringVar(&o.Agent, "agent", "", "agent that answers (default: that of the session)")
	flags.StringVar(&o.Model, "model", "", "provider/model for this turn")
	flags.StringVar((*string)(&o.Approve), "approve", string(talk.ApproveAsk), "what to do with approvals: ask, always or never")
	flags.StringVar((*string)(&o.Queue), "queue", "",
		"what to do while a turn runs: collect, followup, steer, steer-backlog, queue or interrupt (default: as the session says)")
	flags.BoolVar(&o.Stream, "stream", false, "print the answer as it comes; with --json one event for each line")
	flags.StringVar(&o.MessageID, "message-id", "", "name of this message: the same name again is not a new message, but waits for the first one's answer")
	flags.StringArrayVar(&o.Attach, "attach", nil, "file to send with the text; may be repeated")
	return cmd
}

func (c *commands) ask(ctx context.Context, o talk.Options, text string) error {
	if err := o.Check(); err != nil {
		return err
	}
	person := c.person()
	text, input, err := person.Piped(text)
	if err != nil {
		return err
	}
	o.Input = input
	c.named = o.Model
	cfg, err := c.asking(ctx, o.Model)
	if err != nil {
		return err
	}
	message, err := o.Inbound(cfg, text)
	if err != nil {
		return err
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		home := b.Connection
		if message.Attachments, err = home.Attachments(ctx, o.Attach); err != nil {
			return err
		}
		person.SayOffline(cfg, message)
		return person.Ask(ctx, home, o, message)
	})
}

// person returns the user of the command.
func (c *commands) person() *talk.Person {
	return &talk.Person{Printer: c.p, Stdin: c.Stdin, Arrives: c.Arrives, Interruptible: c.Interruptible}
}
