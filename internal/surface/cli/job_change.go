package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
)

// jobLeft writes a job that another process works on.
func (c *commands) jobLeft(b *Backend, j chela.Job) error {
	if c.p.JSON {
		if err := c.p.Document(j); err != nil {
			return err
		}
	} else {
		c.jobFields(j)
	}
	where := "chela jobs events --follow " + string(j.ID) + " tells how far it is"
	if !b.Served {
		where = "it begins with chela serve, or while a chat is open; chela jobs show " + string(j.ID) + " tells how far it is"
	}
	c.p.Note(where)
	return nil
}

// waitFlag adds the flag of a command that can wait for the end of a job.
func waitFlag(cmd *cobra.Command, wait *bool) *cobra.Command {
	cmd.Flags().BoolVar(wait, "wait", false, "work on it here, or follow the daemon that does, and print the result")
	return cmd
}

func (c *commands) jobCreate() *cobra.Command {
	var wait bool
	cmd := filled(c, api.JobsCreate, func(ctx context.Context, q api.NewJob) error {
		return c.openFor(ctx, q.Options.Model, func(b *Backend) error {
			if !wait {
				b.Leave()
			}
			j, err := api.Call(ctx, b.API, api.JobsCreate, q)
			switch {
			case err != nil:
				return err
			case wait:
				c.p.Note(fmt.Sprintf("job %s: chela jobs show %[1]s tells how far it is, chela jobs cancel %[1]s ends it", j.ID))
				return c.jobFollow(ctx, b, j.ID, 0)
			}
			return c.jobLeft(b, j)
		})
	})
	cmd.Long = "Create a job from a text, given as arguments or on standard input. The job sees nothing else."
	return waitFlag(cmd, &wait)
}

func (c *commands) jobRestart() *cobra.Command {
	cmd := jobAgain(c, api.JobsRestart, func(in api.JobRestart) chela.JobID { return in.ID })
	cmd.Long = "Restart a job that ended. Limits that are not given keep their values."
	return cmd
}

func (c *commands) jobModify() *cobra.Command {
	return jobAgain(c, api.JobsModify, func(in api.JobMessage) chela.JobID { return in.ID })
}

// jobAgain returns the command of an operation that makes a job run again.
func jobAgain[In any](c *commands, o api.Operation[In, chela.Job], of func(In) chela.JobID) *cobra.Command {
	var wait bool
	return waitFlag(filled(c, o, func(ctx context.Context, in In) error {
		return c.openFor(ctx, "", func(b *Backend) error {
			before, err := jobEventsOf(ctx, b, of(in), 0)
			if err != nil {
				return err
			}
			if !wait {
				b.Leave()
			}
			j, err := api.Call(ctx, b.API, o, in)
			switch {
			case err != nil:
				return err
			case wait:
				return c.jobFollow(ctx, b, j.ID, len(before))
			}
			return c.jobLeft(b, j)
		})
	}), &wait)
}
