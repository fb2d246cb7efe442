package job

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// By is the recorded author of changes the system makes on its own.
const By = "chela"

// An act is one transaction about jobs. Each row it writes is also recorded in
// the job's story and announced.
type act struct {
	*Jobs
	w     *store.Write
	now   time.Time
	nudge bool // the transaction added work that is due
}

// act runs fn in a transaction and announces its events after the commit.
func (d *Jobs) act(ctx context.Context, op string, fn func(a *act) error) error {
	var done *act
	err := d.store.Tell(ctx, op, d.cfg.Emit, func(w *store.Write) error {
		done = d.within(w)
		return fn(done)
	})
	if err == nil && done.nudge {
		d.cfg.Work.Nudge()
	}
	return err
}

// within returns an act inside a caller's transaction.
func (d *Jobs) within(w *store.Write) *act {
	return &act{Jobs: d, w: w, now: d.moment()}
}

// moment is the current time at the store's precision.
func (d *Jobs) moment() time.Time { return d.cfg.Now().UTC().Truncate(time.Microsecond) }

// change locks a job, runs fn on it and returns the updated job.
func (d *Jobs) change(ctx context.Context, op string, id chela.JobID, fn func(a *act, j *chela.Job) error) (j chela.Job, err error) {
	err = d.act(ctx, op, func(a *act) error {
		if j, err = a.w.LockJob(ctx, id); err != nil {
			return err
		}
		return fn(a, &j)
	})
	return j, err
}

// announce announces an event of a job and of its session.
func (a *act) announce(ctx context.Context, j chela.Job, kind chela.EventKind, text string) error {
	return a.w.Announce(ctx, a.now, []chela.Event{{Kind: kind, Session: j.Session, Thread: j.Thread, Turn: j.Turn, Job: j.ID, Text: text}})
}

// note appends an event to a job's story.
func (a *act) note(ctx context.Context, j *chela.Job, e chela.JobEvent) error {
	e.Job, e.Turn, e.At = j.ID, j.Turn, a.now
	return a.w.AddJobEvent(ctx, e)
}

// keep stores a job whose state does not change.
func (a *act) keep(ctx context.Context, j *chela.Job) error { return a.rewrite(ctx, *j, j.State) }

// rewrite stores a job, provided it is still in the state from, and calls
// [Config.Moved] if a routine run made it.
func (a *act) rewrite(ctx context.Context, j chela.Job, from chela.JobState) error {
	if err := a.w.MoveJob(ctx, j, from); err != nil || j.Run == "" {
		return err
	}
	a.nudge = true
	return a.cfg.Runs.JobMoved(ctx, a.w, j)
}

// move moves a job to another state and records it in the story. Of e, only By,
// Key and Text are used.
func (a *act) move(ctx context.Context, j *chela.Job, to chela.JobState, e chela.JobEvent) error {
	from := j.State
	j.State = to
	if err := a.rewrite(ctx, *j, from); err != nil {
		return err
	}
	e.Kind, e.From, e.To = chela.JobMoved, from, to
	if err := a.note(ctx, j, e); err != nil {
		return err
	}
	return a.announce(ctx, *j, chela.EventJobChanged, string(to))
}

// The kinds of work that jobs enqueue.
const (
	workDispatch = "dispatch"
	workBegin    = "begin"
	workAnnounce = "announce"
	workArchive  = "archive"
)

// add enqueues work once per key; key names its subject.
func (a *act) add(ctx context.Context, kind, key string, args any) error {
	a.nudge = true
	_, err := a.cfg.Work.Add(ctx, a.w, chela.Work{Kind: kind, Key: key, Args: work.Args(args)})
	return err
}

// set enqueues work, or replaces the work of its kind and key.
func (a *act) set(ctx context.Context, k chela.Work) error {
	a.nudge = true
	return a.cfg.Work.Set(ctx, a.w, k)
}

// dispatch enqueues the assignment of free slots of a class: to a process that
// stays or, if own is set because this one made a job pending, to this one.
func (a *act) dispatch(ctx context.Context, class chela.Class, own bool) error {
	k := chela.Work{Kind: workDispatch, Key: string(class), Args: work.Args(dispatchArgs{class})}
	if own {
		return a.set(ctx, k)
	}
	a.nudge = true
	k.ID, k.State, k.DueAt, k.CreatedAt = a.cfg.IDs.Work(), chela.WorkDue, a.now, a.now
	return a.w.SetWork(ctx, k)
}

// look enqueues another look at a job.
func (a *act) look(ctx context.Context, id chela.JobID) error {
	return a.set(ctx, chela.Work{Kind: chela.WorkFollow, Key: string(id), Args: work.Args(lookArgs{id})})
}

type dispatchArgs struct {
	Class chela.Class `json:"class"`
}

type lookArgs struct {
	Job chela.JobID `json:"job"`
}

// messageArgs is a message that an attempt of a job sends into its session.
type messageArgs struct {
	Job     chela.JobID `json:"job"`
	Attempt int         `json:"attempt"`
	Number  int         `json:"number"`
	Text    string      `json:"text"`
	Steer   bool        `json:"steer,omitempty"` // steers the running turn
}

func (m messageArgs) id() string { return fmt.Sprintf("%s%d", messages(m.Job, m.Attempt), m.Number) }

// messages is the prefix of the ids of an attempt's messages.
func messages(id chela.JobID, attempt int) string { return fmt.Sprintf("%s/%d/", id, attempt) }

// attemptArgs names an attempt of a job.
type attemptArgs struct {
	Job     chela.JobID `json:"job"`
	Attempt int         `json:"attempt"`
}

// say enqueues a message into the session of a job.
func (a *act) say(ctx context.Context, j *chela.Job, text string, steer bool) error {
	j.Messages++
	m := messageArgs{Job: j.ID, Attempt: j.Attempt, Number: j.Messages, Text: CutText(text, chela.MaxMessageBytes), Steer: steer}
	if err := a.keep(ctx, j); err != nil {
		return err
	}
	return a.add(ctx, workBegin, m.id(), m)
}
