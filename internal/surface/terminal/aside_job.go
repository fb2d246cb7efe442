package terminal

import (
	"context"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
)

// jobQuiet is the time after a call of a job was shown in which its other calls are not.
const jobQuiet = 5 * time.Second

// maxJobLine is the most characters that one line shows of a job.
const maxJobLine = 120

// A jobBoard knows the jobs whose events a chat has seen. The zero value is empty.
type jobBoard map[chela.JobID]*jobSeen

// jobSeen is a job as a chat knows it.
type jobSeen struct {
	title string    // empty if another session requested the job
	until time.Time // calls before then are not shown
}

// tellJob prints a move or a call of a job that the session of the chat requested, and
// reports whether it did.
func (a *aside) tellJob(ctx context.Context, key chela.SessionKey, e chela.Event) bool {
	seen := a.job(ctx, key, e.OfJob())
	if seen.title == "" {
		return false
	}
	if e.Kind == chela.EventToolRequested {
		if e.At.Before(seen.until) {
			return false
		}
		seen.until = e.At.Add(jobQuiet)
		a.Note("· " + seen.title + ": " + OneLine("calls "+e.Tool+" "+Brief(e.Text), maxJobLine))
		return true
	}
	switch state := chela.JobState(e.Text); state {
	case chela.JobPending, chela.JobSubmitted, chela.JobAccepted: // the command said so, or the announcement does
		return false
	default:
		text := strings.ReplaceAll(string(state), "_", " ")
		if state == chela.JobCompleted {
			if changes := JobChanges(ctx, a, e.OfJob(), "/jobs"); changes != "" {
				text += ", with " + changes
			}
		}
		a.Note("· " + seen.title + ": " + text)
		return true
	}
}

// job returns a job as this chat knows it. One that cannot be read counts as that of
// another session.
func (a *aside) job(ctx context.Context, key chela.SessionKey, id chela.JobID) *jobSeen {
	if seen := a.jobs[id]; seen != nil {
		return seen
	}
	if a.jobs == nil {
		a.jobs = jobBoard{}
	}
	seen := &jobSeen{}
	if j, err := api.Call(ctx, a, api.JobsShow, api.JobRef{ID: id}); err == nil && j.Requester == key {
		seen.title = OneLine(j.Title, 40) + " (" + string(id) + ")"
	}
	a.jobs[id] = seen
	return seen
}
