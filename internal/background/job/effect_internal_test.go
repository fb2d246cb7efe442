package job

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// TestWorkIsLookedForAtOnce: each operation that leaves work has it looked for once
// its transaction is committed, and no other does.
func TestWorkIsLookedForAtOnce(t *testing.T) {
	t.Parallel()
	state := func(s chela.JobState) func(*chela.Job) { return func(j *chela.Job) { j.State = s } }
	for name, c := range map[string]struct {
		order  func(*CreateRequest)
		change func(*chela.Job) // of a job that is under way
		act    func(ctx context.Context, b *bare, j chela.Job) error
		want   int
	}{
		"a message is left": {nil, nil, func(ctx context.Context, b *bare, j chela.Job) error {
			_, err := b.desk.Prompt(ctx, j.ID, Message{Text: "more", By: "me"})
			return err
		}, 1},
		"a place is free": {nil, state(chela.JobCancelled), func(ctx context.Context, b *bare, j chela.Job) error {
			_, err := b.desk.Restart(ctx, j.ID, "me", api.RestartLimits{})
			return err
		}, 1},
		"a job is looked at again": {nil, state(chela.JobStuck), func(ctx context.Context, b *bare, j chela.Job) error {
			b.set(j.ID, state(chela.JobRecovering))
			return b.desk.Look(ctx, j.ID)
		}, 1},
		"a session is archived later": {
			func(o *CreateRequest) { o.Kind, o.Options.Cleanup = chela.JobSubagent, chela.CleanupDelete }, state(chela.JobFailed),
			func(ctx context.Context, b *bare, j chela.Job) error {
				_, err := b.desk.change(ctx, "job.announced", j.ID, func(a *act, j *chela.Job) error {
					return a.announced(ctx, j, attemptArgs{j.ID, 1}, "")
				})
				return err
			}, 1,
		},
		"the job of a run is moved": {func(o *CreateRequest) { o.Run = "run_1" }, state(chela.JobCompleted), func(ctx context.Context, b *bare, j chela.Job) error {
			b.set(j.ID, state(chela.JobSubmitted))
			_, err := b.desk.Accept(ctx, j.ID, "me")
			return err
		}, 1},
		"another job is moved": {nil, state(chela.JobCompleted), func(ctx context.Context, b *bare, j chela.Job) error {
			b.set(j.ID, state(chela.JobSubmitted))
			_, err := b.desk.Accept(ctx, j.ID, "me")
			return err
		}, 0},
		"nothing has changed": {nil, nil, func(ctx context.Context, b *bare, j chela.Job) error {
			turn := b.open(j, j.Thread, followed(j), chela.Overrides{})
			b.set(j.ID, func(j *chela.Job) { j.Turn = turn.ID })
			return b.desk.Look(ctx, j.ID)
		}, 0},
		"a plan is written": {nil, nil, func(ctx context.Context, b *bare, j chela.Job) error {
			return b.desk.Plan(ctx, j.ID, []string{"dig"})
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			j := b.underWay(c.order)
			if c.change != nil {
				b.set(j.ID, c.change)
			}
			b.nudges = 0
			b.must(c.act(t.Context(), b, j))
			if b.nudges != c.want {
				t.Errorf("work was looked for %d times, want %d", b.nudges, c.want)
			}
		})
	}
	b := newBare(t)
	j := b.pending(nil)
	if b.nudges != 1 {
		t.Errorf("work of a new job was looked for %d times", b.nudges)
	}
	b.must(b.desk.giveAway(t.Context(), j.Class()))
	if b.nudges != 2 {
		t.Errorf("work of a job that begins was looked for %d times", b.nudges-1)
	}
	b.must(b.desk.giveAway(t.Context(), j.Class()))
	if b.nudges != 2 {
		t.Error("work was looked for where nothing began")
	}
}

// TestPlacesAreBounded: as many jobs of a class begin as it has places.
func TestPlacesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	b.desk.cfg.Jobs.Parallel = 2
	var jobs []chela.Job
	for range 4 {
		jobs = append(jobs, b.pending(nil))
	}
	other := b.pending(func(o *CreateRequest) { o.Kind = chela.JobSubagent })
	var first chela.JobID // one that began; they are of one moment, so any may
	begun := func() (n int) {
		for _, j := range jobs {
			if b.job(j.ID).State == chela.JobInProgress {
				if first == "" {
					first = j.ID
				}
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		change func(*chela.Job)
		want   int
	}{
		{nil, 2},
		{func(j *chela.Job) { j.State = chela.JobAwaiting }, 2}, // has no place
		{func(j *chela.Job) { j.State, j.Waits = chela.JobInProgress, 1 }, 3},
	} {
		if c.change != nil {
			b.set(first, c.change)
		}
		b.must(b.desk.giveAway(t.Context(), chela.ClassJob))
		if got := begun(); got != c.want {
			t.Errorf("%d jobs are in progress, want %d", got, c.want)
		}
	}
	if got := b.job(other.ID).State; got != chela.JobPending {
		t.Errorf("a job of another class is %s", got)
	}
}

// TestReadyJobsAskForAPlace: a pending job asks for a place when the last of its
// parts has ended, and not when it is looked at again.
func TestReadyJobsAskForAPlace(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.pending(func(o *CreateRequest) { o.Parts = []string{"a"} })
	v, err := b.desk.Job(t.Context(), j.ID)
	b.must(err)
	for i, want := range []bool{false, true, false} {
		if i == 1 {
			b.set(v.Parts[0].ID, func(p *chela.Job) { p.State = chela.JobCancelled })
		}
		b.work = nil
		b.must(b.desk.Look(t.Context(), j.ID))
		if got := b.has(workDispatch, string(chela.ClassJob)); got != want {
			t.Errorf("look %d: asked for a place: %v, want %v", i, got, want)
		}
	}
}

// TestPartsBelongToTheirJob: a part is followed by its job, and asks for a place at
// once. The same request makes no second part.
func TestPartsBelongToTheirJob(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(func(o *CreateRequest) { o.Priority = 3 })
	b.work = nil
	for range 2 {
		parts, err := b.desk.Parts(t.Context(), j.ID, "k", []string{"a", "b"})
		b.must(err)
		if len(parts) != 2 || parts[0].Place != 0 || parts[1].Place != 1 {
			t.Errorf("parts %+v", parts)
		}
	}
	v, err := b.desk.Job(t.Context(), j.ID)
	b.must(err)
	for _, p := range v.Parts {
		if diff := cmp.Diff(followed(j), p.Origin); diff != "" || p.Priority != 3 || p.Requester != j.Session || p.Parent != j.ID || p.Kind != chela.JobPart {
			t.Errorf("part %+v, origin (-want +got):\n%s", p, diff)
		}
	}
	if len(v.Parts) != 2 || len(b.work) != 1 || !b.has(workDispatch, string(chela.ClassJob)) {
		t.Errorf("%d parts, work %+v", len(v.Parts), b.work)
	}
}

// TestHooksOfJobs: the jobs of a run tell of each move, and every job of its end.
func TestHooksOfJobs(t *testing.T) {
	t.Parallel()
	for run, moved := range map[chela.RunID][]chela.JobState{
		"":      nil,
		"run_1": {chela.JobInProgress, chela.JobInProgress, chela.JobCancelled, chela.JobCancelled},
	} {
		b := newBare(t)
		j := b.underWay(func(o *CreateRequest) { o.Run, o.Requester = run, "" })
		for range 2 {
			_, err := b.desk.Cancel(t.Context(), j.ID, "me")
			b.must(err)
		}
		if diff := cmp.Diff(moved, b.moved); diff != "" {
			t.Errorf("run %q: moved (-want +got):\n%s", run, diff)
		}
		if diff := cmp.Diff([]chela.JobState{chela.JobCancelled}, b.ended); diff != "" {
			t.Errorf("run %q: ended (-want +got):\n%s", run, diff)
		}
	}
}

// TestEventsOfJobs: what was committed is announced, and what failed is not.
func TestEventsOfJobs(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	b.must(b.desk.Plan(t.Context(), j.ID, []string{"dig", "fill"}))
	b.must(b.desk.Step(t.Context(), j.ID, chela.JobStep{Place: 1, State: chela.StepDone}))
	if err := b.desk.Step(t.Context(), j.ID, chela.JobStep{Place: 3, State: chela.StepDone}); err == nil {
		t.Error("a step that is not there is done")
	}
	_, err := b.desk.Cancel(t.Context(), j.ID, "me")
	b.must(err)
	var got []string
	for _, e := range b.told {
		if e.Job != j.ID || e.Session != j.Session {
			t.Errorf("event of another job: %+v", e)
		}
		got = append(got, string(e.Kind)+": "+e.Text)
	}
	want := []string{
		"job.changed: pending", "job.changed: in_progress", "job.output: planned 2 steps", "job.output: step 1 is done", "job.changed: cancelled",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestArchivingIsAnnounced: whoever lists sessions hears that one of them is archived.
func TestArchivingIsAnnounced(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	b.set(j.ID, func(j *chela.Job) { j.State, j.ArchiveAt = chela.JobFailed, b.now })
	for _, want := range [][]chela.Event{{{Kind: chela.EventSessionChanged, Session: j.Session, Thread: j.Thread}}, nil} {
		b.told = nil
		_, err := b.desk.archive(t.Context(), j.ID)
		b.must(err)
		if diff := cmp.Diff(want, b.told, cmpopts.IgnoreFields(chela.Event{}, "Cursor", "At")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

// TestSessionOfAJob: it knows who requested it, and answers to its job.
func TestSessionOfAJob(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(func(o *CreateRequest) { o.Label = "digger" })
	var s chela.Session
	b.must(b.desk.store.Read(t.Context(), func(r *store.Read) (err error) {
		s, err = r.Session(t.Context(), j.Session)
		return err
	}))
	want := chela.Settings{SpawnedBy: j.Requester, Label: "digger", Last: followed(j)}
	if diff := cmp.Diff(want, s.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if s.Thread != j.Thread || s.Agent != j.Agent {
		t.Errorf("session %+v of the job %+v", s, j)
	}
}

// TestPromptEndsTheWait: a job that waits for its parts goes on at once with what it is
// told, and a paused one waits further.
func TestPromptEndsTheWait(t *testing.T) {
	t.Parallel()
	const why = "waits for 2 jobs that it requested"
	for state, want := range map[chela.JobState]struct {
		waits    int
		reason   string
		messages int
	}{
		chela.JobInProgress: {0, "", 2}, chela.JobAwaiting: {0, "", 2}, chela.JobPaused: {2, why, 1},
	} {
		b := newBare(t)
		j := b.underWay(nil)
		b.set(j.ID, func(j *chela.Job) { j.State, j.Waits, j.Reason = state, 2, why })
		_, err := b.desk.Prompt(t.Context(), j.ID, Message{Text: "more", By: "me"})
		b.must(err)
		if j = b.job(j.ID); j.Waits != want.waits || j.Reason != want.reason || j.Messages != want.messages {
			t.Errorf("%s: waits for %d (%s), %d messages; want %+v", state, j.Waits, j.Reason, j.Messages, want)
		}
	}
}

// TestSayingsAreHeardOnce: under a known key the same words change nothing, and
// other words are a Conflict. A text is up to a message long.
func TestSayingsAreHeardOnce(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	long := make([]byte, chela.MaxMessageBytes+1)
	for i := range long {
		long[i] = 'x'
	}
	for i, c := range []struct {
		saying   Message
		want     chela.Kind
		messages int // of the job so far
	}{
		{Message{Text: "more", Key: "a"}, "", 2},
		{Message{Text: "more", Key: "a"}, "", 2},
		{Message{Text: "less", Key: "a"}, chela.Conflict, 2},
		{Message{Text: "less", Key: "b"}, "", 3},
		{Message{Text: "less"}, "", 4},
		{Message{Text: "less"}, "", 5},
		{Message{Text: " \n"}, chela.Invalid, 5},
		{Message{Text: string(long)}, chela.Invalid, 5},
		{Message{Text: string(long[1:])}, "", 6},
	} {
		_, err := b.desk.Prompt(t.Context(), j.ID, c.saying)
		if got := b.job(j.ID).Messages; chela.KindOf(err) != c.want || got != c.messages {
			t.Errorf("saying %d: %v, %d messages; want %q, %d", i, err, got, c.want, c.messages)
		}
	}
}

// TestLimitsOfAnotherAttempt: a wish is taken up to the limits of the home, and what
// it leaves out stays as it was.
func TestLimitsOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	for name, c := range map[string]struct {
		wish api.RestartLimits
		want chela.Kind
		now  chela.JobOptions
	}{
		"nothing":            {api.RestartLimits{}, "", chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4}},
		"as much as may be":  {api.RestartLimits{Steps: 10, Timeout: 20 * ms, Tokens: 30}, "", chela.JobOptions{Steps: 10, Timeout: 20 * ms, Tokens: 30}},
		"too many steps":     {api.RestartLimits{Steps: 11}, chela.Invalid, chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4}},
		"too much time":      {api.RestartLimits{Timeout: 21 * ms}, chela.Invalid, chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4}},
		"too many tokens":    {api.RestartLimits{Tokens: 31}, chela.Invalid, chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4}},
		"less than no steps": {api.RestartLimits{Steps: -1}, chela.Invalid, chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			b.desk.cfg.Jobs.Steps, b.desk.cfg.Jobs.Timeout, b.desk.cfg.Jobs.Tokens = 10, 20*ms, 30
			j := b.underWay(func(o *CreateRequest) { o.Options = chela.JobOptions{Steps: 2, Timeout: 3 * ms, Tokens: 4} })
			b.set(j.ID, func(j *chela.Job) { j.State = chela.JobFailed })
			_, err := b.desk.Restart(t.Context(), j.ID, "", c.wish)
			if chela.KindOf(err) != c.want {
				t.Errorf("error %v, want kind %q", err, c.want)
			}
			if diff := cmp.Diff(c.now, b.job(j.ID).Options); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
	b := newBare(t)
	j := b.underWay(func(o *CreateRequest) { o.Options = chela.JobOptions{Steps: 1 << 20} })
	b.set(j.ID, func(j *chela.Job) { j.State = chela.JobFailed })
	_, err := b.desk.Restart(t.Context(), j.ID, "", api.RestartLimits{Steps: 1 << 30})
	b.must(err) // a home without limits
}

// TestRestartKeepsPartsThatCompleted: the parts that failed begin again with their
// job, which waits for those alone, and hears of the others again.
func TestRestartKeepsPartsThatCompleted(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.pending(func(o *CreateRequest) { o.Parts = []string{"a", "b", "c", "d"} })
	b.must(b.desk.giveAway(t.Context(), chela.ClassJob))
	v, err := b.desk.Job(t.Context(), j.ID)
	b.must(err)
	states := []chela.JobState{chela.JobCompleted, chela.JobFailed, chela.JobInterrupted, chela.JobInProgress}
	for i, state := range states {
		b.set(v.Parts[i].ID, func(p *chela.Job) {
			p.State = state
			if !state.Live() {
				p.AnnouncedAt = b.now
			}
		})
	}
	b.set(j.ID, func(j *chela.Job) { j.State, j.Waits = chela.JobCancelled, 0 })
	again, err := b.desk.Restart(t.Context(), j.ID, "me", api.RestartLimits{Steps: 7})
	b.must(err)
	if again.State != chela.JobPending || again.Waits != 3 || again.Thread != "" || again.Options.Steps != 7 {
		t.Errorf("the job: %+v", again)
	}
	v, err = b.desk.Job(t.Context(), j.ID)
	b.must(err)
	for i, want := range []struct {
		state chela.JobState
		steps int
	}{{chela.JobCompleted, 0}, {chela.JobPending, 7}, {chela.JobPending, 7}, {chela.JobInProgress, 0}} {
		p := v.Parts[i]
		if p.State != want.state || p.Options.Steps != want.steps || !p.AnnouncedAt.IsZero() || (p.Thread == "") != (want.steps > 0) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
}
