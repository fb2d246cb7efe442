package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// jobsCommand returns the commands on jobs: asynchronous work in a session of its own.
func (c *commands) jobsCommand() *cobra.Command {
	return console.Group("jobs", "Have work done in the background, and look after it",
		c.jobsList(), c.jobCreate(), verb(c, api.JobsShow, c.job), c.jobEvents(), verb(c, api.JobsPrompt, c.jobMoved),
		verb(c, api.JobsCancel, c.jobMoved), verb(c, api.JobsPause, c.jobMoved), verb(c, api.JobsResume, c.jobMoved), c.jobRestart(),
		verb(c, api.JobsAccept, c.jobMoved), c.jobModify(), c.jobFiles())
}

func (c *commands) jobsList() *cobra.Command {
	var subagents bool
	cmd := derived(c, api.JobsList, func(ctx context.Context, b *Backend, f api.JobFilter) error {
		if f.Kind == "" && !subagents {
			f.Kind = chela.JobPlain
		} else if subagents {
			f.Kind = chela.JobSubagent
		}
		page, err := api.Call(ctx, b, api.JobsList, f)
		if err != nil {
			return err
		}
		err = table[chela.Job]{head: "JOB\tSTATE\tTITLE\tREASON\tCREATED\tTOOK", none: noJobs(f), row: func(j chela.Job) []any {
			return []any{
				j.ID, j.State, terminal.OneLine(j.Title, 50), terminal.OneLine(j.Reason, 40), c.p.Moment(j.CreatedAt), took(j.StartedAt, j.FinishedAt),
			}
		}}.list(c.p, page.Items)
		if err == nil && page.Next != "" && !c.p.JSON {
			c.p.Note("there are more: chela jobs list --before " + page.Next)
		}
		return err
	})
	cmd.Flags().BoolVar(&subagents, "subagents", false, "subagents instead of jobs")
	return cmd
}

// noJobs says that there are no jobs that pass a filter.
func noJobs(f api.JobFilter) string {
	switch {
	case len(f.States) > 0 || f.Requester != "" || f.Before != "":
		return "no job is like that; chela jobs list shows the newest"
	case f.Kind == chela.JobSubagent:
		return "there are no subagents; a model begins them where it finds them of use"
	default:
		return "there are no jobs; chela jobs create TEXT begins one"
	}
}

// job writes a job for people.
func (c *commands) job(j api.Job) {
	c.jobFields(j.Job,
		"agent", j.Agent, "thread", j.Thread, "turn", j.Turn, "model", j.Options.Model, "priority", count(j.Priority), "attempts", count(j.Attempt),
		"for", j.Requester, "part of", j.Parent, "run", j.Run, "created", c.p.Moment(j.CreatedAt), "took", took(j.StartedAt, j.FinishedAt),
		"tokens", spent(j), "cost", j.Cost,
	)
	c.p.Line("\n" + j.Text)
	if len(j.Steps) > 0 {
		c.p.Line("\nPlan:")
		for _, s := range j.Steps {
			c.p.Line(strings.TrimRight(fmt.Sprintf("%2d. [%s] %s  %s", s.Place, s.State, s.Text, s.Note), " "))
		}
	}
	if len(j.Parts) > 0 {
		c.p.Line("")
		jobParts.write(c.p, j.Parts)
	}
	if j.Result != "" {
		c.p.Line("\nResult:\n" + j.Result)
	}
}

var jobParts = table[chela.Job]{
	head: "PART\tSTATE\tTITLE\tTOOK",
	row: func(p chela.Job) []any {
		return []any{p.ID, p.State, terminal.OneLine(p.Title, 50), took(p.StartedAt, p.FinishedAt)}
	},
}

// jobMoved writes the new state of a job for people.
func (c *commands) jobMoved(j chela.Job) { c.jobFields(j) }

// jobFields writes the short fields of a job.
func (c *commands) jobFields(j chela.Job, more ...any) {
	c.p.Fields(append([]any{"job", j.ID, "title", j.Title, "state", j.State, "reason", j.Reason, "session", j.Session}, more...)...)
}

func spent(j api.Job) string {
	if j.Usage.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("%d in, %d out", j.Usage.Total()-j.Usage.Output, j.Usage.Output)
}

func (c *commands) jobFiles() *cobra.Command {
	type arguments struct {
		api.JobRef
		Path string `arg:"[PATH]"`
	}
	return command(c, "files", "List the files in the workspace of a job, or print one", func(ctx context.Context, b *Backend, in arguments) error {
		if in.Path != "" {
			content, err := api.Call(ctx, b, api.JobsFile, api.JobFileRef{JobRef: in.JobRef, Path: in.Path})
			if err == nil {
				c.p.Text(string(content))
			}
			return console.NotThere(err, "see chela jobs list")
		}
		files, err := api.All(ctx, b, api.JobsFiles, api.JobFilesQuery{JobRef: in.JobRef})
		if err != nil {
			return console.NotThere(err, "see chela jobs list")
		}
		none := fmt.Sprintf("job %s has written no files; what it said is in chela jobs show %[1]s", in.ID)
		return table[api.JobFile]{head: "FILE\tSIZE\tCHANGED", none: none, row: func(f api.JobFile) []any {
			return []any{f.Path, f.Size, c.p.Moment(f.ModifiedAt)}
		}}.list(c.p, files)
	})
}

// jobLeft writes a job that another process works on.
func (c *commands) jobLeft(b *Backend, j chela.Job) error {
	if err := answer(c.p, j, nil, c.jobMoved); err != nil {
		return err
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
			j, err := api.Call(ctx, b, api.JobsCreate, q)
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
			j, err := api.Call(ctx, b, o, in)
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
