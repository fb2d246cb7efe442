// Package jobs holds the commands on jobs: asynchronous work in a session of its
// own.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// caller carries out operations of an open home.
type caller interface {
	Do(ctx context.Context, r api.Request, out any) error
}

// A Connection is the way of these commands to an open home.
type Connection struct {
	API caller

	// Leave states that this process begins no work: another process does.
	Leave func()

	// Served reports whether a daemon works on jobs when this process has ended.
	Served bool
}

// A Program holds the dependencies of the commands. All fields are required.
type Program struct {
	Printer *manners.Printer
	Stdin   io.Reader

	// Open opens the home for use.
	Open func(ctx context.Context, use func(Connection) error) error

	// Ask opens it for a command that may ask a model: the one that a flag named,
	// or another one if that is empty.
	Ask func(ctx context.Context, model string, use func(Connection) error) error
}

const hint = "see chela jobs list"

// Command returns the commands.
func Command(p Program) *cobra.Command {
	c := commands{Program: p, p: p.Printer}
	return manners.Group("jobs", "Have work done in the background, and look after it",
		c.list(), c.create(), c.show(), c.events(), c.prompt(),
		c.move("cancel", api.JobsCancel), c.restart(), c.move("accept", api.JobsAccept), c.modify(), c.files())
}

// jobRef names a job by an argument.
func jobRef(id string) api.JobRef { return api.JobRef{ID: chela.JobID(id)} }

type commands struct {
	Program
	p *manners.Printer
}

// in opens the home for a command about one job.
func (c commands) in(use func(ctx context.Context, h Connection, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.Open(cmd.Context(), func(h Connection) error { return manners.NotThere(use(cmd.Context(), h, args), hint) })
	}
}

func (c commands) list() *cobra.Command {
	f := api.JobFilter{Kind: chela.JobPlain}
	var subagents bool
	var states []string
	cmd := &cobra.Command{
		Use: "list", Short: api.JobsList.Summary, Args: manners.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if subagents {
				f.Kind = chela.JobSubagent
			}
			for _, s := range states {
				f.States = append(f.States, chela.JobState(s))
			}
			if f.Limit < 1 || f.Limit > api.MaxPage {
				return chela.E(chela.Invalid, fmt.Sprintf("--limit cannot be %d", f.Limit)).WithHint(fmt.Sprintf("use 1 to %d", api.MaxPage))
			}
			return c.Open(cmd.Context(), func(h Connection) error { return c.listed(cmd.Context(), h, f) })
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&states, "state", nil, "only those in this state; may be repeated")
	flags.StringVar((*string)(&f.Requester), "requester", "", "only those that this session asked for")
	flags.BoolVar(&subagents, "subagents", false, "subagents instead of jobs")
	flags.StringVar((*string)(&f.Before), "before", "", "only those that are older than this job")
	flags.IntVar(&f.Limit, "limit", 50, "at most so many")
	return cmd
}

func (c commands) listed(ctx context.Context, h Connection, f api.JobFilter) error {
	page, err := api.Call(ctx, h.API, api.JobsList, f)
	if err != nil {
		return err
	}
	found := page.Items
	if c.p.None(len(found), none(f)) {
		return nil
	}
	err = manners.List(c.p, found, []string{"JOB", "STATE", "TITLE", "REASON", "CREATED", "TOOK"}, func(j chela.Job) []string {
		return []string{
			string(j.ID), string(j.State), terminal.OneLine(j.Title, 50), terminal.OneLine(j.Reason, 40), c.p.Moment(j.CreatedAt), took(j),
		}
	})
	if err == nil && len(found) == f.Limit && !c.p.JSON {
		c.p.Note("there may be more: chela jobs list --before " + string(found[len(found)-1].ID))
	}
	return err
}

// none says that there are no jobs that pass a filter.
func none(f api.JobFilter) string {
	switch {
	case len(f.States) > 0 || f.Requester != "" || f.Before != "":
		return "no job is like that; chela jobs list shows the newest"
	case f.Kind == chela.JobSubagent:
		return "there are no subagents; a model begins them where it finds them of use"
	default:
		return "there are no jobs; chela jobs create TEXT begins one"
	}
}

// took says how long the newest attempt of a job lasted.
func took(j chela.Job) string {
	if j.StartedAt.IsZero() || j.FinishedAt.IsZero() {
		return ""
	}
	return terminal.Lasting(j.FinishedAt.Sub(j.StartedAt))
}

func (c commands) show() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: api.JobsShow.Summary, Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h Connection, args []string) error {
			j, err := api.Call(ctx, h.API, api.JobsShow, jobRef(args[0]))
			if err != nil {
				return err
			}
			if c.p.JSON {
				return c.p.Document(j)
			}
			c.shown(j)
			return nil
		}),
	}
}

// shown writes a job for people.
func (c commands) shown(j api.Job) {
	c.fields(j.Job,
		[2]string{"agent", j.Agent}, [2]string{"thread", string(j.Thread)}, [2]string{"turn", string(j.Turn)},
		[2]string{"model", j.Options.Model}, [2]string{"priority", number(j.Priority)}, [2]string{"attempts", number(j.Attempt)},
		[2]string{"for", string(j.Requester)}, [2]string{"part of", string(j.Parent)}, [2]string{"run", string(j.Run)},
		[2]string{"created", c.p.Moment(j.CreatedAt)}, [2]string{"took", took(j.Job)},
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
			rows[i] = []string{string(p.ID), string(p.State), terminal.OneLine(p.Title, 50), took(p)}
		}
		c.p.Table([]string{"PART", "STATE", "TITLE", "TOOK"}, rows)
	}
	if j.Result != "" {
		c.p.Line("\nResult:\n" + j.Result)
	}
}

// fields writes the short fields of a job.
func (c commands) fields(j chela.Job, more ...[2]string) {
	c.p.Fields(append([][2]string{
		{"job", string(j.ID)}, {"title", j.Title}, {"state", string(j.State)}, {"reason", j.Reason}, {"session", string(j.Session)},
	}, more...)...)
}

// number writes a number unless it is 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func spent(j api.Job) string {
	if j.Usage.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("%d in, %d out", j.Usage.Total()-j.Usage.Output, j.Usage.Output)
}

func (c commands) files() *cobra.Command {
	return &cobra.Command{
		Use: "files ID [PATH]", Short: "List the files in the workspace of a job, or print one", Args: manners.Between(1, 2),
		RunE: c.in(func(ctx context.Context, h Connection, args []string) error {
			job := jobRef(args[0])
			if len(args) == 2 {
				content, err := api.Call(ctx, h.API, api.JobsFile, api.JobFileRef{JobRef: job, Path: args[1]})
				if err == nil {
					c.p.Text(string(content))
				}
				return err
			}
			files, err := api.All(ctx, h.API, api.JobsFiles, api.JobFilesQuery{JobRef: job})
			if err != nil {
				return err
			}
			if c.p.None(len(files), "job "+args[0]+" has written no files; what it said is in chela jobs show "+args[0]) {
				return nil
			}
			return manners.List(c.p, files, []string{"FILE", "SIZE", "CHANGED"}, func(f api.JobFile) []string {
				return []string{f.Path, strconv.FormatInt(f.Size, 10), c.p.Moment(f.ModifiedAt)}
			})
		}),
	}
}

// reasonOf says why a job is where it is.
func reasonOf(j chela.Job) string { return cmp.Or(j.Reason, "it is "+string(j.State)) }
