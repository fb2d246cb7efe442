package terminal

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/local"
)

// jobPoll is the interval between two looks at a job that is followed.
const jobPoll = 200 * time.Millisecond

// A JobWatch follows the events and the acts of a job.
type JobWatch struct {
	ID    chela.JobID
	Seen  int                  // the last event that was shown
	Acted chela.EntryID        // the last entry whose acts were shown
	Show  func(chela.JobEvent) // called with each event
	Act   func(api.JobAct)     // called with each act of the job between them
	Whole bool                 // to its end, also while it waits for approvals
}

// doer carries out operations of a home.
type doer interface {
	Do(ctx context.Context, r api.Request, out any) error
}

// JobEvents returns the events of a job after the event of a number, in order.
func JobEvents(ctx context.Context, c doer, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return api.All(ctx, c, api.JobsEvents, api.JobEventsQuery{JobRef: api.JobRef{ID: id}, After: after})
}

// Next shows the events and the acts since the last look, in the order of their times.
func (w *JobWatch) Next(ctx context.Context, c doer) error {
	events, err := JobEvents(ctx, c, w.ID, w.Seen)
	if err != nil {
		return err
	}
	acts, err := api.All(ctx, c, api.JobsActs, api.JobActsQuery{JobRef: api.JobRef{ID: w.ID}, After: w.Acted})
	if err != nil {
		return err
	}
	for len(events)+len(acts) > 0 {
		if len(acts) == 0 || len(events) > 0 && !events[0].At.After(acts[0].At) {
			w.Show(events[0])
			w.Seen, events = events[0].Seq, events[1:]
		} else {
			w.Act(acts[0])
			w.Acted, acts = acts[0].Entry, acts[1:]
		}
	}
	return nil
}

// Run follows the job until it ends or, unless Whole is set, it waits for answers to
// the approvals that are returned.
func (w *JobWatch) Run(ctx context.Context, c doer) (api.Job, []chela.Approval, error) {
	for {
		j, err := api.Call(ctx, c, api.JobsShow, api.JobRef{ID: w.ID}) // before its events, so that all up to this state are shown
		if err != nil {
			return j, nil, err
		}
		w.ID = j.ID // "last" may soon mean another one
		if err := w.Next(ctx, c); err != nil {
			return j, nil, err
		}
		if !j.State.Live() {
			return j, nil, nil
		}
		if !w.Whole {
			if asked, err := approvalsOf(ctx, c, j); err != nil || len(asked) > 0 {
				return j, asked, err
			}
		}
		if err := local.Sleep(ctx, jobPoll); err != nil {
			return j, nil, err
		}
	}
}

// approvalsOf returns the approvals that a job waits for, itself or those it waits for.
func approvalsOf(ctx context.Context, c doer, j api.Job) (asked []chela.Approval, err error) {
	sessions := []chela.SessionKey{}
	if j.State == chela.JobAwaiting {
		sessions = append(sessions, j.Session)
	}
	if j.Waits > 0 {
		waiting, err := api.All(ctx, c, api.JobsList, api.JobFilter{States: []chela.JobState{chela.JobAwaiting}, Requester: j.Session, Limit: api.MaxPage})
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
	pending, err := api.All(ctx, c, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	return slices.DeleteFunc(pending, func(a chela.Approval) bool { return !slices.Contains(sessions, a.Session) }), err
}
