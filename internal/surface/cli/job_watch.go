package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/local"
	"chela/internal/surface/terminal"
)

// jobPoll is how often it is looked what happened to a job.
const jobPoll = 200 * time.Millisecond

func (c *commands) jobEvents() *cobra.Command {
	var follow bool
	cmd := derived(c, api.JobsEvents, func(ctx context.Context, b *Backend, q api.JobEventsQuery) error {
		if follow {
			_, _, err := c.jobWatch(ctx, b, jobWatch{id: q.ID, seen: q.After, show: c.jobEventLine, whole: true})
			return err
		}
		found, err := jobEventsOf(ctx, b, q.ID, q.After)
		if err != nil {
			return err
		}
		none := fmt.Sprintf("nothing has happened to job %s after event %d; --follow waits for more", q.ID, q.After)
		return table[chela.JobEvent]{head: "EVENT\tAT\tWHAT\tBY", none: none, row: func(e chela.JobEvent) []any {
			return []any{e.Seq, c.Moment(e.At), terminal.OneLine(jobEventText(e), 80), e.By}
		}}.list(c, found)
	})
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with each new one until the job has ended; with --json one for each line")
	return cmd
}

// jobEventsOf returns the events of a job after the event of a number, in order.
func jobEventsOf(ctx context.Context, b *Backend, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return api.All(ctx, b, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: id}, After: after})
}

// jobEventLine writes an event as a line of the result.
func (c *commands) jobEventLine(e chela.JobEvent) {
	if c.JSON {
		c.Compact(e) //nolint:errcheck // text, numbers and a time are JSON
		return
	}
	c.Line(fmt.Sprintf("%d  %s  %s", e.Seq, c.Moment(e.At), terminal.OneLine(jobEventText(e), 200)))
}

// jobEventText is an event as people say it.
func jobEventText(e chela.JobEvent) string {
	what := map[chela.JobEventKind]string{
		chela.JobMoved: plain(string(e.To)), chela.JobPlanned: "plan", chela.JobStepped: "step " + strconv.Itoa(e.Step), chela.JobPrompted: "told",
		chela.JobRepaired: "repaired", chela.JobAnnounced: "the requesting session was told",
	}[e.Kind]
	if e.Text == "" {
		return what
	}
	return what + ": " + e.Text
}

// plain is a state as people say it.
func plain(state string) string { return strings.ReplaceAll(state, "_", " ") }

// A jobWatch selects the events of a job that are followed.
type jobWatch struct {
	id    chela.JobID
	seen  int                  // the last event that was shown
	show  func(chela.JobEvent) // each one after it
	whole bool                 // to its end, also while it waits for approvals
}

// jobWatch shows what happens to a job until it ends or, unless whole, it waits for
// somebody to answer the approvals that are returned.
func (c *commands) jobWatch(ctx context.Context, b *Backend, w jobWatch) (api.Job, []chela.Approval, error) {
	for {
		j, err := api.Call(ctx, b, api.JobsShow, api.JobRef{ID: w.id}) // before its events: so those that led here are shown
		if err != nil {
			return j, nil, err
		}
		events, err := jobEventsOf(ctx, b, w.id, w.seen)
		if err != nil {
			return j, nil, err
		}
		for _, e := range events {
			w.show(e)
			w.seen = e.Seq
		}
		if !j.State.Live() {
			return j, nil, nil
		}
		if !w.whole {
			if asked, err := approvalsOf(ctx, b, j); err != nil || len(asked) > 0 {
				return j, asked, err
			}
		}
		if err := local.Sleep(ctx, jobPoll); err != nil {
			return j, nil, err
		}
	}
}

// approvalsOf returns the approvals that a job waits for, itself or those it waits for.
func approvalsOf(ctx context.Context, b *Backend, j api.Job) (asked []chela.Approval, err error) {
	sessions := []chela.SessionKey{}
	if j.State == chela.JobAwaiting {
		sessions = append(sessions, j.Session)
	}
	if j.Waits > 0 {
		waiting, err := api.All(ctx, b, api.JobsList, api.JobFilter{States: []chela.JobState{chela.JobAwaiting}, Requester: j.Session, Limit: api.MaxPage})
		if err != nil {
			return nil, err
		}
		for _, other := range waiting {
			sessions = append(sessions, other.Session)
		}
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	pending, err := api.All(ctx, b, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	return slices.DeleteFunc(pending, func(a chela.Approval) bool { return !slices.Contains(sessions, a.Session) }), err
}

// jobFollow shows a job to its end and prints its result. The error says how it ended,
// if not well.
func (c *commands) jobFollow(ctx context.Context, b *Backend, id chela.JobID, seen int) error {
	j, asked, err := c.jobWatch(ctx, b, jobWatch{id: id, seen: seen, show: func(e chela.JobEvent) { c.Note("· " + jobEventText(e)) }})
	err = answer(c, j, err, func(j api.Job) {
		if j.Result != "" {
			c.Line(j.Result)
		}
	})
	if err != nil {
		return err
	}
	if len(asked) > 0 {
		a := asked[0]
		return terminal.Needed(fmt.Sprintf("job %s waits for an approval: %s: ", j.ID, a.Tool), a)
	}
	return jobEnding(ctx, b, j.Job)
}

// jobEnding returns the error that stands for a job that did not complete.
func jobEnding(ctx context.Context, b *Backend, j chela.Job) error {
	switch j.State {
	case chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted:
		return nil
	}
	kind, again := chela.Unavailable, "chela jobs restart "+string(j.ID)
	if j.Turn != "" {
		t, err := api.Call(ctx, b, api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: j.Turn}})
		if err != nil {
			return err
		}
		if t.State == chela.TurnLimited {
			kind = chela.Exhausted
			if t.Failure != nil {
				again += moreOf[t.Failure.Limit]
			}
		}
	}
	return chela.E(kind, fmt.Sprintf("job %s is %s: %s", j.ID, plain(string(j.State)), cmp.Or(j.Reason, "it is "+string(j.State)))).
		WithHint("see chela jobs show " + string(j.ID) + ", or begin it again with " + again)
}

// moreOf are the flags that give a job more of what ended its turn.
var moreOf = map[chela.Limit]string{
	chela.LimitSteps: " --steps N", chela.LimitTime: " --timeout TIME", chela.LimitTokens: " --tokens N",
}
