package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"chela"
)

// A stepState is the state of a step; see the package documentation.
type stepState string

const (
	stepWaiting stepState = "waiting"
	stepHanded  stepState = "handed"
	stepOpen    stepState = "open"
	stepDone    stepState = "done" // or lost, or failed
)

// A queuedStep is a step on its way through a worker. Its fields beside those of
// Step, which do not change, are guarded by the orchestrator's mutex until done is
// closed.
type queuedStep struct {
	Step
	repeat bool // may be handed out again after its worker died
	output func(text string)

	state     stepState
	by        *workerRun // it was handed to
	tries     int        // workers that it was handed to
	cancelled bool
	opened    chan struct{} // closed when the state is open
	done      chan struct{} // closed when the state is done

	result Result
	lost   bool  // its worker died, and it must not be repeated
	err    error // why it is done without a result
}

func newStep(kind StepKind, id string) *queuedStep {
	return &queuedStep{
		Step:  Step{ID: string(kind) + ":" + id, Kind: kind},
		state: stepWaiting, opened: make(chan struct{}), done: make(chan struct{}),
	}
}

// A jobQueue holds the steps of a job that are not done, in order. It is guarded
// by the orchestrator's mutex.
type jobQueue struct {
	session  chela.SessionKey
	steps    []*queuedStep
	made     int           // model requests so far
	changed  chan struct{} // closed and replaced at every change
	run      *workerRun    // nil between workers
	failures int           // workers that ended in a row without a step done
	leaving  bool          // the worker is told to end
	over     bool          // the job ended: the worker is not kept
	idle     *time.Timer   // retires the worker; nil while there are steps
}

// notify wakes polls.
func (j *jobQueue) notify() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// find returns a step that is not done.
func (j *jobQueue) find(id string) *queuedStep {
	for _, st := range j.steps {
		if st.ID == id {
			return st
		}
	}
	return nil
}

// end moves a step to done and takes it out of the queue.
func (j *jobQueue) end(st *queuedStep) {
	if st.state == stepDone {
		return
	}
	st.state = stepDone
	close(st.done)
	j.steps = slices.DeleteFunc(j.steps, func(other *queuedStep) bool { return other == st })
	j.notify()
}

// fail ends all steps with an error.
func (j *jobQueue) fail(err error) {
	for _, st := range slices.Clone(j.steps) {
		if st.err = err; st.state == stepWaiting {
			st.err = fmt.Errorf("%w: %w", errNotHanded, err)
		}
		j.end(st)
	}
}

// errNotHanded marks the error of a step that no worker began.
var errNotHanded = errors.New("no worker began the step")

// retire tells the worker to end.
func (j *jobQueue) retire() {
	if j.leaving = true; j.run != nil {
		j.run.limit(leaveTime)
	}
	j.notify()
}

// enqueue adds a step to the queue of its session.
func (o *Orchestrator) enqueue(session chela.SessionKey, st *queuedStep) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return errEnding
	}
	j := o.jobs[session]
	if j == nil {
		j = &jobQueue{session: session, changed: make(chan struct{})}
		o.jobs[session] = j
		o.begun = append(o.begun, j)
		select {
		case o.wake <- struct{}{}:
		default: // Run looks already
		}
	}
	if st.Kind == StepModel {
		j.made++
		st.ID = fmt.Sprintf("%s:%d", StepModel, j.made)
	}
	if j.idle != nil {
		j.idle.Stop()
		j.idle = nil
	}
	j.over = false
	j.steps = append(j.steps, st)
	j.notify()
	return nil
}

// enter queues a step of the host and returns when the worker asks for it. The
// caller performs it and calls leave.
func (o *Orchestrator) enter(ctx context.Context, session chela.SessionKey, st *queuedStep) error {
	if err := o.enqueue(session, st); err != nil {
		return err
	}
	select {
	case <-st.opened:
		return nil
	case <-st.done:
		return st.err
	case <-ctx.Done():
		o.leave(session, st)
		return context.Cause(ctx)
	}
}

// leave ends a step of the host.
func (o *Orchestrator) leave(session chela.SessionKey, st *queuedStep) {
	o.mu.Lock()
	defer o.mu.Unlock()
	j := o.jobs[session]
	if j == nil || st.state == stepDone {
		return
	}
	j.failures = 0
	j.end(st)
	o.rest(j)
}

// perform queues a call for the worker and returns when it is done, or ended
// because ctx did: then the worker has ended its processes, or is killed.
func (o *Orchestrator) perform(ctx context.Context, session chela.SessionKey, st *queuedStep) error {
	if err := o.enqueue(session, st); err != nil {
		return fmt.Errorf("%w: %w", errNotHanded, err)
	}
	select {
	case <-st.done:
		return st.err
	case <-ctx.Done():
	}
	o.mu.Lock()
	st.cancelled = true
	j, by := o.jobs[session], st.by
	if j != nil && st.state == stepWaiting {
		j.end(st)
		o.rest(j)
	} else if j != nil {
		j.notify()
	}
	o.mu.Unlock()
	late := time.NewTimer(cancelTime)
	defer late.Stop()
	select {
	case <-st.done:
	case <-late.C:
		if by != nil {
			by.kill()
		}
		<-st.done // the end of the worker ends it
	}
	return context.Cause(ctx)
}

// rest starts the time after which the worker of a queue without steps is ended.
func (o *Orchestrator) rest(j *jobQueue) {
	if len(j.steps) > 0 || j.idle != nil || j.run == nil {
		return
	}
	if j.over {
		j.retire()
		return
	}
	j.idle = time.AfterFunc(o.cfg.Idle, func() { // stopped when a step arrives or the worker ends
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(j.steps) == 0 {
			j.retire()
		}
	})
}

// handOut returns the next answer to a poll of a worker, or false if there is
// nothing to tell.
func (o *Orchestrator) handOut(j *jobQueue, w *workerRun, p Poll) (next Next, changed chan struct{}, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range p.Have {
		st := j.find(id)
		if (st == nil || st.cancelled || st.by != w) && !slices.Contains(p.Cancelled, id) {
			next.Cancel = append(next.Cancel, id)
		}
	}
	for _, st := range j.steps {
		again := st.state == stepHanded && st.by == w && !slices.Contains(p.Have, st.ID) && !st.cancelled
		if st.state == stepWaiting || again {
			if !again {
				st.tries++
			}
			st.state, st.by = stepHanded, w
			next.Step = &st.Step
			break
		}
	}
	next.End = j.leaving && len(j.steps) == 0
	return next, j.changed, next.Step != nil || next.End || len(next.Cancel) > 0
}

// died takes back the steps of a worker that ended: they wait again, or are lost.
func (o *Orchestrator) died(j *jobQueue, w *workerRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	j.run = nil
	if !j.leaving {
		j.failures++
	}
	j.leaving = false
	for _, st := range slices.Clone(j.steps) {
		switch {
		case st.state != stepHanded || st.by != w:
		case st.cancelled:
			j.end(st)
		case st.Kind == StepInside && !st.repeat, st.Kind == StepInside && st.tries >= maxStarts:
			st.lost = true
			j.end(st)
		default:
			st.state, st.by = stepWaiting, nil
		}
	}
}
