package rule

import (
	"fmt"

	"chela"
)

// Waits is what is known of what a run may wait for. Approvals are those of the turn
// that works for it.
type Waits struct {
	Turn      *chela.Turn // of the run; nil if it has none yet
	Job       *chela.Job  // of the run; nil if it has none
	Approvals []chela.Approval
}

// Text says what is waited for, and what a person can do about it; empty for nothing.
func (w Waits) Text() string {
	switch {
	case w.Job != nil:
		return w.ofJob()
	case w.Turn != nil && w.Turn.State == chela.TurnAwaiting:
		return w.person()
	default:
		return ""
	}
}

func (w Waits) ofJob() string {
	switch j := w.Job; {
	case j.State == chela.JobPending && j.Waits == 0:
		return fmt.Sprintf("its job %s waits for a place", j.ID)
	case j.State == chela.JobAwaiting:
		return fmt.Sprintf("its job %s waits: %s", j.ID, w.person())
	case j.State.Live() && j.Waits > 0:
		return fmt.Sprintf("its job %s %s", j.ID, j.Reason)
	default:
		return ""
	}
}

// ToBegin says what a pending run waits for; empty for nothing. Next tells that none of
// its routine comes before it.
func (d Defaults) ToBegin(v chela.Routine, p Places, next bool) string {
	switch {
	case !next:
		return "older runs of its routine begin first"
	case d.MayBegin(v, p):
		return ""
	case p.Taken >= d.Most:
		return fmt.Sprintf("a place: as many runs of routines are running as may (%d)", p.Taken)
	default:
		return fmt.Sprintf("its routine is running %s already; its guard allows no more at once", times(p.Running[v.ID]))
	}
}

// person is what is wanted of a person.
func (w Waits) person() string {
	for _, a := range w.Approvals {
		if a.State == chela.ApprovalPending {
			return fmt.Sprintf("it asks whether it may use %s: answer with chela approvals yes %s, or no", a.Tool, a.ID)
		}
	}
	return "it waits for a person"
}
