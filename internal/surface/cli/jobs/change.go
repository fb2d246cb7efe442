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
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// move returns the command of an operation that changes a job and waits for nothing.
func (c commands) move(name string, o api.Operation[api.JobRef, chela.Job]) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: o.Summary, Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h Connection, args []string) error {
			h.Leave()
			j, err := api.Call(ctx, h.API, o, jobRef(args[0]))
			if err != nil {
				return err
			}
			return c.moved(j)
		}),
	}
}

// moved writes the new state of a job.
func (c commands) moved(j chela.Job) error {
	if c.p.JSON {
		return c.p.Document(j)
	}
	c.fields(j)
	return nil
}

// left writes a job that another process works on.
func (c commands) left(h Connection, j chela.Job) error {
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

// text returns the text of the arguments, or else of standard input.
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
		Use: "create [flags] [TEXT]", Short: api.JobsCreate.Summary,
		Long: "Create a job from a text, given as arguments or on standard input. The job sees nothing else.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args); err != nil {
				return err
			}
			return c.Ask(cmd.Context(), q.Options.Model, func(h Connection) error {
				if !wait {
					h.Leave()
				}
				j, err := api.Call(cmd.Context(), h.API, api.JobsCreate, q)
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

// limitFlags adds the flags of the limits of a job.
func limitFlags(cmd *cobra.Command, steps *int, timeout *chela.Span, tokens *int64) {
	flags := cmd.Flags()
	flags.IntVar(steps, "steps", 0, "model answers in one turn (default: jobs.steps)")
	flags.DurationVar((*time.Duration)(timeout), "timeout", 0, "of one try (default: jobs.timeout)")
	flags.Int64Var(tokens, "tokens", 0, "that its model calls may take together (default: jobs.tokens)")
}

func (c commands) restart() *cobra.Command {
	var q api.JobAgain
	var wait bool
	cmd := &cobra.Command{
		Use: "restart ID", Short: api.JobsRestart.Summary, Args: manners.Exactly(1),
		Long: "Restart a job that ended. Limits that are not given keep their values.",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.JobRestart{JobRef: jobRef(args[0]), Limits: q}
			return c.again(cmd.Context(), in.ID, wait, func(h Connection) (chela.Job, error) { return api.Call(cmd.Context(), h.API, api.JobsRestart, in) })
		},
	}
	limitFlags(cmd, &q.Steps, &q.Timeout, &q.Tokens)
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

// again restarts a job.
func (c commands) again(ctx context.Context, id chela.JobID, wait bool, restart func(Connection) (chela.Job, error)) error {
	return c.Ask(ctx, "", func(h Connection) error {
		before, err := api.All(ctx, h.API, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: id}})
		if err != nil {
			return manners.NotThere(err, hint)
		}
		if !wait {
			h.Leave()
		}
		j, err := restart(h)
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
		Use: "modify ID [TEXT]", Short: api.JobsModify.Summary, Args: manners.AtLeast(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args[1:]); err != nil {
				return err
			}
			in := api.JobMessage{JobRef: jobRef(args[0]), Message: q}
			return c.again(cmd.Context(), in.ID, wait, func(h Connection) (chela.Job, error) { return api.Call(cmd.Context(), h.API, api.JobsModify, in) })
		},
	}
	cmd.Flags().StringVar(&q.Key, "key", "", keyHelp)
	cmd.Flags().BoolVar(&wait, "wait", false, waitHelp)
	return cmd
}

func (c commands) prompt() *cobra.Command {
	var q api.JobText
	cmd := &cobra.Command{
		Use: "prompt ID [TEXT]", Short: api.JobsPrompt.Summary, Args: manners.AtLeast(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = c.text(args[1:]); err != nil {
				return err
			}
			return c.in(func(ctx context.Context, h Connection, args []string) error {
				h.Leave()
				j, err := api.Call(ctx, h.API, api.JobsPrompt, api.JobMessage{JobRef: jobRef(args[0]), Message: q})
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
