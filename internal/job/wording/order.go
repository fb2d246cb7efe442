package wording

import (
	"fmt"

	"chela"
)

// NotNow is the Conflict of an order that does not fit how far a job is. It says why
// the job is there, and what can be done with it.
func NotNow(j chela.Job) error {
	text := fmt.Sprintf("job %s is %s", j.ID, j.State)
	if j.Reason != "" {
		text += ": " + Cut(j.Reason, maxReason)
	}
	return chela.E(chela.Conflict, text).WithHint(possible(j))
}

// possible tells what can be done with a job that is as far as it is.
func possible(j chela.Job) string {
	const modify, restart = "chela jobs modify %[1]s TEXT says what to change", "chela jobs restart %[1]s begins it anew"
	ways := modify + ", " + restart
	switch j.State {
	case chela.JobCompleted, chela.JobSubmitted:
		ways += ", chela jobs accept %[1]s says that it is good"
	case chela.JobFailed, chela.JobInterrupted:
	case chela.JobCancelled:
		ways = restart
	case chela.JobAccepted:
		return "its result was found good, and that is its end: chela jobs create begins another"
	default:
		ways = "it goes on: chela jobs prompt %[1]s TEXT tells it something, chela jobs cancel %[1]s ends it"
	}
	return fmt.Sprintf(ways, j.ID)
}
