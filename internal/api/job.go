package api

import (
	"fmt"
	"slices"
	"time"

	"chela"
)

// MaxJobFile is the largest file of a job that is handed out, in bytes.
const MaxJobFile = 25 << 20

// A NewJob asks for a job. Only the text is required.
type NewJob struct {
	Text     string           `json:"text"`            // what is to be done
	Title    string           `json:"title,omitempty"` // the beginning of the text when empty
	Agent    string           `json:"agent,omitempty"` // main when empty
	Priority int              `json:"priority,omitempty"`
	Parts    []string         `json:"parts,omitempty"` // what its parts are to do; it begins once they have ended
	Options  chela.JobOptions `json:"options,omitzero"`

	// Session is told how the job ends. Nobody is when it is empty.
	Session chela.SessionKey `json:"session,omitempty"`

	Key string `json:"key,omitempty"` // names the request: the same one makes one job
}

// A JobText is what somebody says to a job.
type JobText struct {
	Text string `json:"text"`
	Key  string `json:"key,omitempty"` // names the request: the same one is carried out once
}

// A JobAgain says with which limits a job begins anew. What is 0 stays as it was.
type JobAgain struct {
	Steps   int           `json:"steps,omitempty"`   // of one turn
	Timeout time.Duration `json:"timeout,omitempty"` // of one run of a turn, in nanoseconds
	Tokens  int64         `json:"tokens,omitempty"`  // that all its turns may take together
}

// A Job is a job with what belongs to it.
type Job struct {
	chela.Job
	Steps []chela.JobStep  `json:"steps,omitempty"` // of its plan
	Parts []chela.Job      `json:"parts,omitempty"`
	Usage chela.TokenUsage `json:"usage"` // of all its attempts, its own turns alone
	Cost  chela.MicroUSD   `json:"cost"`
}

// A JobFile is a file in the workspace of a job.
type JobFile struct {
	Path       string    `json:"path"` // within the workspace, parted by "/"
	Size       int64     `json:"size"` // bytes
	ModifiedAt time.Time `json:"modified_at"`
}

// A JobFilter says which jobs are meant; what is empty means any.
type JobFilter struct {
	States    []chela.JobState
	Kind      chela.JobKind
	Requester chela.SessionKey // that asked for it
	Before    chela.JobID      // only those that are older
	Limit     int              // 1 to MaxPage
}

// jobStates and jobKinds are what can be filtered by.
var (
	jobStates = []chela.JobState{
		chela.JobPending, chela.JobInProgress, chela.JobAwaiting, chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted, chela.JobModified,
		chela.JobFailed, chela.JobInterrupted, chela.JobCancelled, chela.JobStuck, chela.JobRecovering,
	}
	jobKinds = []chela.JobKind{chela.JobPlain, chela.JobSubagent, chela.JobPart}
)

// Check returns an Invalid error for a filter that no job could pass.
func (f JobFilter) Check() error {
	for _, s := range f.States {
		if !slices.Contains(jobStates, s) {
			return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no state of a job", s)).WithHint("use one such as in_progress, completed or failed")
		}
	}
	if f.Kind != "" && !slices.Contains(jobKinds, f.Kind) {
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no kind of job", f.Kind)).WithHint("use job, subagent or part")
	}
	if f.Requester != "" {
		if _, err := chela.ParseSessionKey(f.Requester); err != nil {
			return err
		}
	}
	if f.Limit < 1 || f.Limit > MaxPage {
		return chela.E(chela.Invalid, fmt.Sprintf("%d is no number of jobs", f.Limit)).WithHint(fmt.Sprintf("use 1 to %d", MaxPage))
	}
	return nil
}
