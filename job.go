package chela

import "time"

// A Job is a piece of background work with a session of its own. Subagents and
// the parts of a job are jobs too, of other kinds: one row, one table of moves and
// one way to start, follow and report serve them all.
type Job struct {
	ID      JobID      `json:"id"`
	Kind    JobKind    `json:"kind"`
	Key     string     `json:"key"`     // names the request that made it; unique, so that a request repeated makes no second job
	Session SessionKey `json:"session"` // its own
	Thread  ThreadID   `json:"thread,omitempty"`
	Agent   string     `json:"agent"`
	Title   string     `json:"title"`
	Text    string     `json:"text"` // what is to be done
	Label   string     `json:"label,omitempty"`
	State   JobState   `json:"state"`
	Reason  string     `json:"reason,omitempty"` // why it is in that state, for people

	// Priority is how urgent it is: of those that wait, the highest begins first, the
	// oldest of them. 0 is usual.
	Priority int        `json:"priority,omitempty"`
	Options  JobOptions `json:"options,omitzero"`

	// Where it came from, and where its result goes.
	Requester SessionKey `json:"requester,omitempty"` // the session that asked for it; empty for a person who wants no message of it
	Origin    Origin     `json:"origin,omitzero"`     // with which its result enters that session
	Parent    JobID      `json:"parent,omitempty"`    // whose part it is
	Place     int        `json:"place,omitempty"`     // among the parts, from 0: their results are told in this order
	Depth     int        `json:"depth,omitempty"`     // how many subagents stand above it, itself included
	Run       RunID      `json:"run,omitempty"`       // the run of a routine that made it

	// What became of it so far.
	Attempt  int    `json:"attempt"`           // times that it began, so far
	Messages int    `json:"messages"`          // that its newest attempt sent into its session
	Repairs  int    `json:"repairs,omitempty"` // recoveries since it last began by a person's wish
	Waits    int    `json:"waits,omitempty"`   // jobs whose endings it waits for; it takes no place meanwhile
	Turn     TurnID `json:"turn,omitempty"`    // its newest
	Result   string `json:"result,omitempty"`  // its last answer, once it ended

	CreatedAt   time.Time `json:"created_at"`
	StartedAt   time.Time `json:"started_at,omitzero"`   // of the newest attempt
	FinishedAt  time.Time `json:"finished_at,omitzero"`  // of the newest attempt
	AnnouncedAt time.Time `json:"announced_at,omitzero"` // its ending entered the requester's lane, or was told to nobody as wished
	ArchiveAt   time.Time `json:"archive_at,omitzero"`   // when its session leaves the lists; zero for never
	ArchivedAt  time.Time `json:"archived_at,omitzero"`
}

// JobKind says what a job is to whoever asked for it.
type JobKind string

// The kinds of jobs.
const (
	JobPlain    JobKind = "job"      // asked for by a person, a model or a routine
	JobSubagent JobKind = "subagent" // spawned by a turn, which is told of its ending
	JobPart     JobKind = "part"     // of another job, which goes on once all its parts ended
)

// JobOptions are how a job is to be done. Zero values are left to the
// configuration.
type JobOptions struct {
	Model    string        `json:"model,omitempty"`
	Thinking ThinkingLevel `json:"thinking,omitempty"`
	Steps    int           `json:"steps,omitempty"`   // of one turn
	Timeout  time.Duration `json:"timeout,omitempty"` // of one run of a turn, in nanoseconds
	Tokens   int64         `json:"tokens,omitempty"`  // that all its turns may take together; 0 for no limit
	Plan     bool          `json:"plan,omitempty"`    // it writes down its steps first, and is held to them
	Quiet    bool          `json:"quiet,omitempty"`   // its ending is not announced
	Cleanup  Cleanup       `json:"cleanup,omitempty"` // of its session, after the announcement
}

// Cleanup says what becomes of a subagent's session.
type Cleanup string

// The ways to clean up. Nothing is ever removed from the journal: to delete is to
// archive at once.
const (
	CleanupKeep   Cleanup = "keep"   // archived after a while
	CleanupDelete Cleanup = "delete" // archived as soon as its ending was announced
)

// JobState says how far a job is.
type JobState string

// The states of a job.
const (
	JobPending     JobState = "pending"           // waits for a place
	JobInProgress  JobState = "in_progress"       // has a place: a turn runs or is about to; or it waits for others
	JobAwaiting    JobState = "awaiting_approval" // its turn waits for a person; it has no place meanwhile
	JobCompleted   JobState = "completed"         // its work is done
	JobSubmitted   JobState = "submitted"         // its result was handed to whoever asked for it
	JobAccepted    JobState = "accepted"          // a person found it good
	JobModified    JobState = "modified"          // a person sent it back with what to change
	JobFailed      JobState = "failed"            // Reason says why
	JobInterrupted JobState = "interrupted"       // its turn was stopped
	JobCancelled   JobState = "cancelled"         // it is not wanted any more
	JobStuck       JobState = "stuck"             // nothing has come of it for too long
	JobRecovering  JobState = "recovering"        // what was stuck is stopped, and it begins again
)

// A job that ended may be begun again by a person's wish; one that is accepted
// may not.
var jobMoves = map[JobState][]JobState{
	JobPending:     {JobInProgress, JobFailed, JobCancelled},
	JobInProgress:  {JobAwaiting, JobCompleted, JobFailed, JobInterrupted, JobCancelled, JobStuck},
	JobAwaiting:    {JobInProgress, JobCompleted, JobFailed, JobInterrupted, JobCancelled, JobStuck},
	JobStuck:       {JobRecovering, JobFailed, JobCancelled},
	JobRecovering:  {JobPending, JobInProgress, JobFailed, JobCancelled, JobStuck},
	JobCompleted:   {JobSubmitted, JobAccepted, JobModified, JobPending},
	JobSubmitted:   {JobAccepted, JobModified, JobPending},
	JobModified:    {JobPending, JobCancelled},
	JobFailed:      {JobPending, JobModified},
	JobInterrupted: {JobPending, JobModified},
	JobCancelled:   {JobPending},
}

// CanMove reports whether a job may go from s to to.
func (s JobState) CanMove(to JobState) bool { return canMove(jobMoves, s, to) }

// Live reports whether something is to come of a job by itself.
func (s JobState) Live() bool {
	switch s {
	case JobPending, JobInProgress, JobAwaiting, JobModified, JobStuck, JobRecovering:
		return true
	default:
		return false
	}
}

// HasPlace reports whether a job in the state counts among those that may be in
// progress at once, if it does not wait for others.
func (s JobState) HasPlace() bool { return s == JobInProgress || s == JobStuck || s == JobRecovering }

// Class returns the class whose places the job takes.
func (j *Job) Class() Class {
	if j.Kind == JobSubagent {
		return ClassSubagent
	}
	return ClassJob
}

// A JobEvent is one thing that happened to a job. Events are appended and never
// changed; every move of a job is one.
type JobEvent struct {
	Job  JobID        `json:"job"`
	Seq  int          `json:"seq"` // grows by one within a job, from 1
	Kind JobEventKind `json:"kind"`
	From JobState     `json:"from,omitempty"` // moved
	To   JobState     `json:"to,omitempty"`   // moved
	Step int          `json:"step,omitempty"` // of the plan, from 1
	Turn TurnID       `json:"turn,omitempty"`
	By   string       `json:"by,omitempty"` // who: a person through a channel, "chela", a session
	Key  string       `json:"-"`            // names the request that caused it, which is carried out once; empty for none
	Text string       `json:"text,omitempty"`
	At   time.Time    `json:"at"`
}

// JobEventKind says what happened to a job.
type JobEventKind string

// The kinds of events of a job.
const (
	JobMoved     JobEventKind = "moved"
	JobPlanned   JobEventKind = "planned"   // it wrote down its steps
	JobStepped   JobEventKind = "step"      // a step of its plan has another state
	JobPrompted  JobEventKind = "prompt"    // somebody said something to it
	JobRepaired  JobEventKind = "repair"    // it was stuck; Text says what was done
	JobAnnounced JobEventKind = "announced" // whoever asked for it was told
)

// A JobStep is one step of a job's plan.
type JobStep struct {
	Place int       `json:"place"` // from 1
	Text  string    `json:"text"`
	State StepState `json:"state"`
	Note  string    `json:"note,omitempty"` // what came of it
}

// StepState says how far a step of a plan is.
type StepState string

// The states of a step. A plan may be changed at any time, so all moves are
// legal.
const (
	StepPending    StepState = "pending"
	StepInProgress StepState = "in_progress"
	StepDone       StepState = "done"
	StepSkipped    StepState = "skipped"
)
