package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
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
		verb(c, api.JobsCancel, c.jobMoved), verb(c, api.JobsPause, c.jobMoved), verb(c, api.JobsResume, c.jobMoved), c.jobRestart(), verb(c, api.JobsAccept, c.jobMoved), c.jobModify(), c.jobFiles())
}

func (c *commands) jobsList() *cobra.Command {
	var subagents bool
	cmd := derived(c, api.JobsList, func(ctx context.Context, b *Backend, f api.JobFilter) error {
		if f.Kind == "" && !subagents {
			f.Kind = chela.JobPlain
		} else if subagents {
			f.Kind = chela.JobSubagent
		}
		page, err := api.Call(ctx, b.API, api.JobsList, f)
		if err != nil || c.p.None(len(page.Items), noJobs(f)) {
			return err
		}
		err = console.List(c.p, page.Items, []string{"JOB", "STATE", "TITLE", "REASON", "CREATED", "TOOK"}, func(j chela.Job) []string {
			return []string{
				string(j.ID), string(j.State), terminal.OneLine(j.Title, 50), terminal.OneLine(j.Reason, 40), c.p.Moment(j.CreatedAt), jobTook(j),
			}
		})
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

// jobTook says how long the newest attempt of a job lasted.
func jobTook(j chela.Job) string { return took(j.StartedAt, j.FinishedAt) }

// job writes a job for people.
func (c *commands) job(j api.Job) error {
	c.jobFields(j.Job,
		[2]string{"agent", j.Agent}, [2]string{"thread", string(j.Thread)}, [2]string{"turn", string(j.Turn)},
		[2]string{"model", j.Options.Model}, [2]string{"priority", count(j.Priority)}, [2]string{"attempts", count(j.Attempt)},
		[2]string{"for", string(j.Requester)}, [2]string{"part of", string(j.Parent)}, [2]string{"run", string(j.Run)},
		[2]string{"created", c.p.Moment(j.CreatedAt)}, [2]string{"took", jobTook(j.Job)},
		[2]string{"tokens", spent(j)}, [2]string{"cost", j.Cost.String()},
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
		rows := make([][]string, len(j.Parts))
		for i, p := range j.Parts {
			rows[i] = []string{string(p.ID), string(p.State), terminal.OneLine(p.Title, 50), jobTook(p)}
		}
		c.p.Table([]string{"PART", "STATE", "TITLE", "TOOK"}, rows)
	}
	if j.Result != "" {
		c.p.Line("\nResult:\n" + j.Result)
	}
	return nil
}

// jobMoved writes the new state of a job for people.
func (c *commands) jobMoved(j chela.Job) error {
	c.jobFields(j)
	return nil
}

// jobFields writes the short fields of a job.
func (c *commands) jobFields(j chela.Job, more ...[2]string) {
	c.p.Fields(append([][2]string{
		{"job", string(j.ID)}, {"title", j.Title}, {"state", string(j.State)}, {"reason", j.Reason}, {"session", string(j.Session)},
	}, more...)...)
}

func spent(j api.Job) string {
	if j.Usage.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("%d in, %d out", j.Usage.Total()-j.Usage.Output, j.Usage.Output)
}

const jobsHint = "see chela jobs list"

func (c *commands) jobFiles() *cobra.Command {
	return &cobra.Command{
		Use: "files ID [PATH]", Short: "List the files in the workspace of a job, or print one", Args: console.Between(1, 2),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			job := api.JobRef{ID: chela.JobID(args[0])}
			if len(args) == 2 {
				content, err := api.Call(ctx, b.API, api.JobsFile, api.JobFileRef{JobRef: job, Path: args[1]})
				if err == nil {
					c.p.Text(string(content))
				}
				return console.NotThere(err, jobsHint)
			}
			files, err := api.All(ctx, b.API, api.JobsFiles, api.JobFilesQuery{JobRef: job})
			if err != nil {
				return console.NotThere(err, jobsHint)
			}
			if c.p.None(len(files), "job "+args[0]+" has written no files; what it said is in chela jobs show "+args[0]) {
				return nil
			}
			return console.List(c.p, files, []string{"FILE", "SIZE", "CHANGED"}, func(f api.JobFile) []string {
				return []string{f.Path, strconv.FormatInt(f.Size, 10), c.p.Moment(f.ModifiedAt)}
			})
		}),
	}
}

// reasonOf says why a job is where it is.
func reasonOf(j chela.Job) string { return cmp.Or(j.Reason, "it is "+string(j.State)) }
