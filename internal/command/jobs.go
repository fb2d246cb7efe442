package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/command/grammar"
	"chela/internal/lane"
)

// maxJobs is how many jobs are listed.
const maxJobs = 20

// Jobs keeps jobs. Its functions may be called by several goroutines at once.
type Jobs struct {
	// Create takes a job in; a request with a key makes one job. The origin is that
	// with which its session is told how it ends.
	Create func(ctx context.Context, q api.NewJob, origin chela.Origin, by string) (chela.Job, error)

	// List returns the jobs that pass a filter, the newest first.
	List   func(ctx context.Context, f api.JobFilter) ([]chela.Job, error)
	Job    func(ctx context.Context, id chela.JobID) (api.Job, error)
	Events func(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error)
	Cancel func(ctx context.Context, id chela.JobID, by string) (chela.Job, error)
}

// by says who gives a command.
func (g given) by() string { return "owner in " + g.Origin.Channel }

// job begins a job whose ending is told here. It works with what is the owner's alone,
// so a group has none.
func (i *Interpreter) job(ctx context.Context, g given) (lane.Order, error) {
	switch {
	case g.args == "":
		return nil, chela.E(chela.Invalid, "there is nothing to do").WithHint("write /job and what is to be done")
	case g.inGroup():
		return nil, chela.E(chela.Denied, "a job sees what is private, and its result would be read here by others").
			WithHint("ask for it where nobody else reads along")
	}
	q := api.NewJob{Text: g.args, Agent: g.session.Agent, Session: g.Session, Key: g.key()}
	j, err := i.cfg.Jobs.Create(ctx, q, g.Origin, g.by())
	if err != nil {
		return nil, err
	}
	return reply(fmt.Sprintf("Job %s: %s. You are told here when it has ended; /jobs %[1]s shows how far it is.", j.ID, j.Title)), nil
}

// jobs lists the jobs of the agent, or shows one.
func (i *Interpreter) jobs(ctx context.Context, g given) (lane.Order, error) {
	if g.args != "" {
		j, err := i.findJob(ctx, g, g.args)
		if err != nil {
			return nil, err
		}
		return reply(aboutJob(j)), nil
	}
	f := api.JobFilter{Kind: chela.JobPlain, Limit: maxJobs}
	if g.inGroup() {
		f.Requester = g.Session
	}
	found, err := i.cfg.Jobs.List(ctx, f)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return reply("There are no jobs. /job TEXT begins one."), nil
	}
	said := []string{"Jobs:"}
	for _, j := range found {
		said = append(said, "- "+jobLine(j))
	}
	return reply(strings.Join(said, "\n")), nil
}

// findJob returns a job that may be known here: in a group only those that were
// asked for there.
func (i *Interpreter) findJob(ctx context.Context, g given, named string) (api.Job, error) {
	j, err := i.cfg.Jobs.Job(ctx, chela.JobID(named))
	if err == nil && g.inGroup() && j.Requester != g.Session || chela.KindOf(err) == chela.NotFound {
		return api.Job{}, chela.E(chela.NotFound, "there is no job "+grammar.Quoted(named)).WithHint("see /jobs")
	}
	return j, err
}

// jobLine is a job on a line.
func jobLine(j chela.Job) string {
	line := fmt.Sprintf("%s, %s: %s", j.ID, plain(string(j.State)), j.Title)
	if j.Reason != "" {
		line += " (" + grammar.Shortened(j.Reason) + ")"
	}
	return line
}

// aboutJob is all there is to say of a job, cut to what a message bears.
func aboutJob(j api.Job) string {
	var l lines
	l.add("job", "%s", j.ID)
	l.add("title", "%s", j.Title)
	l.add("state", "%s", plain(string(j.State)))
	l.add("reason", "%s", j.Reason)
	l.add("session", "%s", j.Session)
	if !j.FinishedAt.IsZero() && !j.StartedAt.IsZero() {
		l.add("took", "%s", lasting(j.FinishedAt.Sub(j.StartedAt)))
	}
	l.add("tokens", "%d", j.Usage.Total())
	l.add("cost", "%s", j.Cost)
	for _, s := range j.Steps {
		l.add("step "+strconv.Itoa(s.Place), "%s: %s", plain(string(s.State)), s.Text)
	}
	for _, p := range j.Parts {
		l.add("part", "%s", jobLine(p))
	}
	text := strings.Join(l, "\n")
	if j.Result == "" {
		return text
	}
	result := j.Result
	if len(result) > maxText {
		result = strings.ToValidUTF8(result[:maxText], "") + "…\nchela jobs show " + string(j.ID) + " shows all of it."
	}
	return text + "\n\n" + result
}

// cancel cancels a job.
func (i *Interpreter) cancel(ctx context.Context, g given) (lane.Order, error) {
	if g.args == "" {
		return nil, chela.E(chela.Invalid, "no job is named").WithHint("write /cancel ID, as /jobs shows it; /stop stops the turn that runs here")
	}
	j, err := i.findJob(ctx, g, g.args)
	if err != nil {
		return nil, err
	}
	return i.cancelJob(ctx, g, j.Job)
}

func (i *Interpreter) cancelJob(ctx context.Context, g given, j chela.Job) (lane.Order, error) {
	j, err := i.cfg.Jobs.Cancel(ctx, j.ID, g.by())
	if err != nil {
		return nil, err
	}
	return reply(fmt.Sprintf("Job %s is cancelled: %s. What it did stays.", j.ID, j.Title)), nil
}

// subagents lists the subagents of the session, or says more of one, or stops it.
func (i *Interpreter) subagents(ctx context.Context, g given) (lane.Order, error) {
	found, err := i.cfg.Jobs.List(ctx, api.JobFilter{Kind: chela.JobSubagent, Requester: g.Session, Limit: maxJobs})
	if err != nil {
		return nil, err
	}
	word, rest := grammar.CutWord(g.args)
	named := strings.TrimSpace(rest)
	if word = strings.ToLower(word); word == "" || word == "list" && named == "" {
		return listedSubagents(found), nil
	}
	if !slices.Contains([]string{"info", "log", "stop"}, word) || named == "" {
		return nil, chela.E(chela.Invalid, "that is nothing to do with subagents").
			WithHint("write /subagents, or one of info, log and stop with a number or an id behind it")
	}
	j, err := subagent(found, named)
	if err != nil {
		return nil, err
	}
	switch word {
	case "stop":
		return i.cancelJob(ctx, g, j)
	case "log":
		return i.jobLog(ctx, j)
	default:
		whole, err := i.cfg.Jobs.Job(ctx, j.ID)
		return reply(aboutJob(whole)), err
	}
}

func listedSubagents(found []chela.Job) lane.Order {
	if len(found) == 0 {
		return reply("This session has no subagents.")
	}
	said := []string{"Subagents:"}
	for n, j := range found {
		said = append(said, fmt.Sprintf("%d. %s", n+1, jobLine(j)))
	}
	return reply(strings.Join(said, "\n"))
}

// subagent returns the one that a number of the list, or an id, names.
func subagent(found []chela.Job, named string) (chela.Job, error) {
	if n, err := strconv.Atoi(strings.TrimPrefix(named, "#")); err == nil && n >= 1 && n <= len(found) {
		return found[n-1], nil
	}
	for _, j := range found {
		if string(j.ID) == named {
			return j, nil
		}
	}
	return chela.Job{}, chela.E(chela.NotFound, "this session has no subagent "+grammar.Quoted(named)).WithHint("see /subagents")
}

// jobLog lists the last that happened to a job.
func (i *Interpreter) jobLog(ctx context.Context, j chela.Job) (lane.Order, error) {
	events, err := i.cfg.Jobs.Events(ctx, j.ID, 0)
	if err != nil {
		return nil, err
	}
	said := []string{string(j.ID) + ":"}
	for _, e := range events[max(0, len(events)-maxJobs):] {
		what := string(e.Kind)
		if e.To != "" {
			what = string(e.To)
		}
		line := fmt.Sprintf("- %s %s", chela.Moment(e.At, i.cfg.Zone), plain(what))
		if e.Text != "" {
			first, _, _ := strings.Cut(e.Text, "\n")
			line += ": " + first
		}
		said = append(said, line)
	}
	return reply(strings.Join(said, "\n")), nil
}
