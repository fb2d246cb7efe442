package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
)

// maxJobs limits the list of jobs.
const maxJobs = 20

// api returns a connection to the operations of the home for the sender of a command.
func (i *Interpreter) api(g given) api.Local {
	return api.Local{Operations: i.cfg.Operations, Caller: api.Caller{By: g.by(), Origin: g.Origin, Session: g.Session}}
}

// by says who gives a command.
func (g given) by() string { return by(g.Inbound) }

// by names the sender of a message in records and logs.
func by(in chela.Inbound) string { return "owner in " + in.Origin.Channel }

// job creates a job that reports its end to this session. Jobs work with the
// owner's resources, so groups cannot create them.
func (i *Interpreter) job(ctx context.Context, g given) (lane.Command, error) {
	switch {
	case g.args == "":
		return nil, chela.E(chela.Invalid, "there is nothing to do").WithHint("write /job and the task")
	case g.inGroup():
		return nil, chela.E(chela.Denied, "a job can read private documents, and others would read its result here").
			WithHint("ask for it in a private chat")
	}
	q := api.NewJob{Text: g.args, Agent: g.session.Agent, Session: g.Session, Key: g.key()}
	j, err := api.Call(ctx, i.api(g), api.JobsCreate, q)
	if err != nil {
		return nil, err
	}
	return reply(fmt.Sprintf("Job %s: %s. You are told here when it has ended; /jobs %[1]s shows how far it is.", j.ID, j.Title)), nil
}

// jobs lists the jobs of the agent, or shows one.
func (i *Interpreter) jobs(ctx context.Context, g given) (lane.Command, error) {
	if g.args != "" {
		j, err := i.findJob(ctx, g, g.args)
		if err != nil {
			return nil, err
		}
		return reply(aboutJob(j)), nil
	}
	page, err := api.Call(ctx, i.api(g), api.JobsList, api.JobFilter{Kind: chela.JobPlain, Limit: maxJobs})
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return reply("There are no jobs; /job TEXT starts one."), nil
	}
	said := []string{"Jobs:"}
	for _, j := range page.Items {
		said = append(said, "- "+jobLine(j))
	}
	return reply(strings.Join(said, "\n")), nil
}

// findJob returns a job that is visible in this session.
func (i *Interpreter) findJob(ctx context.Context, g given, named string) (api.Job, error) {
	j, err := api.Call(ctx, i.api(g), api.JobsShow, api.JobRef{ID: chela.JobID(named)})
	if chela.KindOf(err) == chela.NotFound {
		return api.Job{}, chela.E(chela.NotFound, "there is no job "+Quoted(named)).WithHint("see /jobs")
	}
	return j, err
}

// jobLine is a job on a line.
func jobLine(j chela.Job) string {
	line := fmt.Sprintf("%s, %s: %s", j.ID, plain(string(j.State)), j.Title)
	if j.Reason != "" {
		line += " (" + Shortened(j.Reason) + ")"
	}
	return line
}

// aboutJob describes a job, truncated to the size of a message.
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
func (i *Interpreter) cancel(ctx context.Context, g given) (lane.Command, error) {
	if g.args == "" {
		return nil, chela.E(chela.Invalid, "no job is named").WithHint("write /cancel ID, as /jobs shows it; /stop stops the turn that runs here")
	}
	j, err := i.findJob(ctx, g, g.args)
	if err != nil {
		return nil, err
	}
	return i.cancelJob(ctx, g, j.Job)
}

func (i *Interpreter) cancelJob(ctx context.Context, g given, j chela.Job) (lane.Command, error) {
	j, err := api.Call(ctx, i.api(g), api.JobsCancel, api.JobRef{ID: j.ID})
	if err != nil {
		return nil, err
	}
	return reply(fmt.Sprintf("Job %s is cancelled: %s. What it did stays.", j.ID, j.Title)), nil
}

// subagents lists the subagents of the session, or shows one, or stops it.
func (i *Interpreter) subagents(ctx context.Context, g given) (lane.Command, error) {
	page, err := api.Call(ctx, i.api(g), api.JobsList, api.JobFilter{Kind: chela.JobSubagent, Requester: g.Session, Limit: maxJobs})
	if err != nil {
		return nil, err
	}
	word, rest := CutWord(g.args)
	named := strings.TrimSpace(rest)
	if word = strings.ToLower(word); word == "" || word == "list" && named == "" {
		return listedSubagents(page.Items), nil
	}
	if !slices.Contains([]string{"info", "log", "stop"}, word) || named == "" {
		return nil, chela.E(chela.Invalid, "that is nothing to do with subagents").
			WithHint("write /subagents, or one of info, log and stop with a number or an id behind it")
	}
	j, err := subagent(page.Items, named)
	if err != nil {
		return nil, err
	}
	switch word {
	case "stop":
		return i.cancelJob(ctx, g, j)
	case "log":
		return i.jobLog(ctx, g, j)
	default:
		whole, err := api.Call(ctx, i.api(g), api.JobsShow, api.JobRef{ID: j.ID})
		return reply(aboutJob(whole)), err
	}
}

func listedSubagents(found []chela.Job) lane.Command {
	if len(found) == 0 {
		return reply("This session has no subagents.")
	}
	said := []string{"Subagents:"}
	for n, j := range found {
		said = append(said, fmt.Sprintf("%d. %s", n+1, jobLine(j)))
	}
	return reply(strings.Join(said, "\n"))
}

// subagent returns the subagent at a position of the list, or with an id.
func subagent(found []chela.Job, named string) (chela.Job, error) {
	if n, err := strconv.Atoi(strings.TrimPrefix(named, "#")); err == nil && n >= 1 && n <= len(found) {
		return found[n-1], nil
	}
	for _, j := range found {
		if string(j.ID) == named {
			return j, nil
		}
	}
	return chela.Job{}, chela.E(chela.NotFound, "this session has no subagent "+Quoted(named)).WithHint("see /subagents")
}

// jobLog lists the latest events of a job.
func (i *Interpreter) jobLog(ctx context.Context, g given, j chela.Job) (lane.Command, error) {
	events, err := api.All(ctx, i.api(g), api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: j.ID}})
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
