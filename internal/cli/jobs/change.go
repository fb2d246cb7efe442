package jobs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

// move returns a command that moves a job and waits for nothing.
func (c commands) move(name, short string, of func(Home) moveFunc) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			h.Leave()
			j, err := of(h)(ctx, chela.JobID(args[0]))
			if err != nil {
				return err
			}
			return c.moved(j)
		}),
	}
}

// moved writes what a job has become.
func (c commands) moved(j chela.Job) error {
	if c.p.JSON {
		return c.p.Document(j)
	}
	c.fields(j)
	return nil
}

// left writes a job that is left to whoever works on it.
func (c commands) left(h Home, j chela.Job) error {
	if err := c.moved(j); err != nil {
		return err
	}
	where := "chela jobs events --follow " + string(j.ID) + " tells how far it is"
	if !h.Served {
		where = "it begins with chela serve, or while a chat is open; chela jobs show " + string(j.ID) + " tells how far it is"
	}
	c.p.Note(where)
	return nil
}

// text returns what follows the flags, or else what is piped in.
func (c commands) text(words []string) (string, error) {
	text := strings.Join(words, " ")
	if text == "" && terminal.IsPiped(c.Stdin) {
		raw, err := io.ReadAll(io.LimitReader(c.Stdin, chela.MaxMessageBytes+1))
		if err != nil {
			return "", chela.E(chela.Invalid, "cannot read the text").WithHint("write it behind the command").Because(err)
		}
		text = strings.TrimSpace(string(raw))
	}
	if strings.TrimSpace(text) == "" {
		return "", chela.E(chela.Invalid, "there is no text").WithHint("write it behind the command, or pipe it in")
	}
	return text, nil
}

const (
	waitHelp = "work on it here, or follow the daemon that does, and print the result"
	keyHelp  = "names the request: sent again, it is not carried out again"
)

func (c commands) create() *cobra.Command {
	var q api.NewJob
	var wait bool
	cmd := &cobra.Command{
		Use: "create [flags] [TEXT]", Short: "Begin a job",
		Long: "Begin a job. It knows nothing but the text, and without one what is piped in.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args); err != nil {
				return err
			}
			return c.Ask(cmd.Context(), q.Options.Model, func(h Home) error {
				if !wait {
					h.Leave()
				}
				j, err := h.Create(cmd.Context(), q)
				switch {
				case err != nil:
					return err
				case wait:
					c.p.Note(fmt.Sprintf("job %s: chela jobs show %[1]s tells how far it is, chela jobs cancel %[1]s ends it", j.ID))
					return c.follow(cmd.Context(), h, j.ID, 0)
				}
				return c.left(h, j)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Title, "title", "", "a few words that name it (default: the beginning of the text)")
	flags.StringVar(&q.Agent, "agent", chela.MainAgent, "agent that works on it")
	flags.StringVar(&q.Options.Model, "model", "", "provider/model that works on it")
	flags.StringVar((*string)(&q.Options.Thinking), "thinking", "", "how much the model reasons: off, minimal, low, medium, high or xhigh")
	flags.StringArrayVar(&q.Parts, "part", nil, "what is worked on at the same time before it begins; may be repeated")
	flags.BoolVar(&q.Options.Plan, "plan", false, "it writes down its steps first, and is held to them")
	flags.IntVar(&q.Priority, "priority", 0, "higher ones begin first")
	limitFlags(cmd, &q.Options.Steps, &q.Options.Timeout, &q.Options.Tokens)
	flags.StringVar((*string)(&q.Session), "session", "", "session that is told how it ends (default: none)")
	flags.StringVar(&q.Key, "key", "", "names the request: sent again, it makes no second job")
	flags.BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

// limitFlags adds the flags of what a job may take.
func limitFlags(cmd *cobra.Command, steps *int, timeout *time.Duration, tokens *int64) {
	flags := cmd.Flags()
	flags.IntVar(steps, "steps", 0, "model answers in one turn (default: jobs.steps)")
	flags.DurationVar(timeout, "timeout", 0, "of one try (default: jobs.timeout)")
	flags.Int64Var(tokens, "tokens", 0, "that its model calls may take together (default: jobs.tokens)")
}

func (c commands) restart() *cobra.Command {
	var q api.JobAgain
	var wait bool
	cmd := &cobra.Command{
		Use: "restart ID", Short: "Begin a job that ended anew", Args: manners.Exactly(1),
		Long: "Begin a job that ended anew. Limits that are not given stay as they were for it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.again(cmd.Context(), chela.JobID(args[0]), wait, func(h Home) moveFunc {
				return func(ctx context.Context, id chela.JobID) (chela.Job, error) { return h.Restart(ctx, id, q) }
			})
		},
	}
	limitFlags(cmd, &q.Steps, &q.Timeout, &q.Tokens)
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

// A moveFunc moves a job.
type moveFunc func(ctx context.Context, id chela.JobID) (chela.Job, error)

// again begins a job again that was there.
func (c commands) again(ctx context.Context, id chela.JobID, wait bool, of func(Home) moveFunc) error {
	return c.Ask(ctx, "", func(h Home) error {
		before, err := h.Events(ctx, id, 0)
		if err != nil {
			return manners.NotThere(err, hint)
		}
		if !wait {
			h.Leave()
		}
		j, err := of(h)(ctx, id)
		switch {
		case err != nil:
			return err
		case wait:
			return c.follow(ctx, h, id, len(before))
		}
		return c.left(h, j)
	})
}

func (c commands) modify() *cobra.Command {
	var q api.JobText
	var wait bool
	cmd := &cobra.Command{
		Use: "modify ID [TEXT]", Short: "Send a job that ended back with what to change", Args: manners.AtLeast(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args[1:]); err != nil {
				return err
			}
			return c.again(cmd.Context(), chela.JobID(args[0]), wait, func(h Home) moveFunc {
				return func(ctx context.Context, id chela.JobID) (chela.Job, error) { return h.Modify(ctx, id, q) }
			})
		},
	}
	cmd.Flags().StringVar(&q.Key, "key", "", keyHelp)
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

func (c commands) prompt() *cobra.Command {
	var q api.JobText
	cmd := &cobra.Command{
		Use: "prompt ID [TEXT]", Short: "Say something to a job that goes on", Args: manners.AtLeast(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args[1:]); err != nil {
				return err
			}
			return c.in(func(ctx context.Context, h Home, args []string) error {
				h.Leave()
				j, err := h.Prompt(ctx, chela.JobID(args[0]), q)
				if err != nil {
					return err
				}
				return c.moved(j)
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&q.Key, "key", "", keyHelp)
	return cmd
}
