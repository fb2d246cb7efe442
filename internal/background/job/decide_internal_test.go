package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// TestFollowedTurns: a job follows the turns of its thread and the live ones of its
// earlier threads, but none that another origin began.
func TestFollowedTurns(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	own, silent, sibling := followed(j), followed(j), followed(j)
	silent.ReplyBy, sibling.Account = "", "job_other"
	before := b.thread(j)
	b.end(b.open(j, before, own, chela.Overrides{}), chela.TurnCompleted)
	for _, origin := range []chela.Origin{silent, sibling, {Channel: "cli", Account: string(j.ID), ReplyBy: chela.ReplyByFollow}} {
		b.end(b.open(j, j.Thread, origin, chela.Overrides{}), chela.TurnCompleted)
	}
	first := b.open(j, j.Thread, own, chela.Overrides{})
	b.end(first, chela.TurnCompleted)
	second := b.open(j, j.Thread, own, chela.Overrides{})
	stray := b.open(j, before, own, chela.Overrides{})
	var got []chela.TurnID
	for _, turn := range b.situation(j.ID).Turns {
		got = append(got, turn.ID)
	}
	if diff := cmp.Diff([]chela.TurnID{first.ID, second.ID, stray.ID}, got); diff != "" {
		t.Errorf("followed turns (-want +got):\n%s", diff)
	}
}

// TestSteeringMessages: a message that enters the job's running turn has the limits
// of that turn; without such a turn it has those of the job.
func TestSteeringMessages(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(func(o *CreateRequest) { o.Options = chela.JobOptions{Steps: 3, Model: "script/own"} })
	inbound := func(steer bool) (in chela.Inbound) {
		t.Helper()
		b.must(b.desk.store.Read(t.Context(), func(r *store.Read) (err error) {
			in, err = b.desk.inbound(t.Context(), r, b.job(j.ID), messageArgs{Job: j.ID, Attempt: 1, Number: 2, Text: "more", Steer: steer})
			return err
		}))
		return in
	}
	check := func(name string, in chela.Inbound, steps int, model string, mode chela.QueueMode) {
		t.Helper()
		if in.Overrides.Steps != steps || in.Model != model || in.Queue.Mode != mode {
			t.Errorf("%s: %d steps, model %q, mode %q; want %d, %q, %q", name, in.Overrides.Steps, in.Model, in.Queue.Mode, steps, model, mode)
		}
	}
	stray := b.open(j, b.thread(j), followed(j), chela.Overrides{Steps: 8})
	check("a turn of another thread", inbound(true), 3, "script/own", chela.QueueSteerBacklog)
	b.end(stray, chela.TurnCompleted)
	foreign := b.open(j, j.Thread, chela.Origin{Channel: "cli"}, chela.Overrides{Steps: 9})
	check("a turn of another origin", inbound(true), 3, "script/own", chela.QueueSteerBacklog)
	b.end(foreign, chela.TurnCompleted)
	b.open(j, j.Thread, followed(j), chela.Overrides{Steps: 7})
	check("the turn of the job", inbound(true), 7, "", chela.QueueSteerBacklog)
	check("a message of its own", inbound(false), 3, "script/own", chela.QueuePlain)
}

// TestUnsentMessageFailsTheJob: the job of a message that could not be sent fails
// with the reason, unless it has ended or begun another attempt since.
func TestUnsentMessageFailsTheJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*chela.Job) // of a job that is under way
		attempt int              // of the message
		want    chela.JobState
	}{
		"under way":         {func(*chela.Job) {}, 1, chela.JobFailed},
		"awaiting":          {func(j *chela.Job) { j.State = chela.JobAwaiting }, 1, chela.JobFailed},
		"stuck":             {func(j *chela.Job) { j.State = chela.JobStuck }, 1, chela.JobStuck},
		"cancelled":         {func(j *chela.Job) { j.State = chela.JobCancelled }, 1, chela.JobCancelled},
		"another attempt":   {func(*chela.Job) {}, 2, chela.JobInProgress},
		"before an attempt": {func(*chela.Job) {}, 0, chela.JobInProgress},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			j := b.underWay(nil)
			b.set(j.ID, c.change)
			b.work = nil
			unsent := chela.Work{Error: "the lane is full", Args: work.Args(messageArgs{Job: j.ID, Attempt: c.attempt})}
			b.write(func(ctx context.Context, w *store.Write) error { return b.desk.unsent(ctx, w, unsent) })
			got := b.job(j.ID)
			failed := c.want == chela.JobFailed
			if got.State != c.want || (got.Reason == unsent.Error) != failed || got.FinishedAt.IsZero() == failed {
				t.Errorf("job is %s since %q, finished at %v; want %s", got.State, got.Reason, got.FinishedAt, c.want)
			}
			if b.has(chela.WorkFollow, string(j.ID)) != failed || b.has(workAnnounce, string(j.ID)+"/1") != failed {
				t.Errorf("work left: %+v", b.work)
			}
		})
	}
	b := newBare(t)
	for args, want := range map[string]chela.Kind{`[`: chela.Invalid, `{"job":"job_nothing"}`: chela.NotFound} {
		for name, failed := range map[string]func(context.Context, *store.Write, chela.Work) error{"unsent": b.desk.unsent, "untellable": b.desk.untellable} {
			err := b.desk.store.Write(t.Context(), "test", func(w *store.Write) error {
				return failed(t.Context(), w, chela.Work{Args: []byte(args)})
			})
			if chela.KindOf(err) != want {
				t.Errorf("%s %s: error %v, want kind %s", name, args, err, want)
			}
		}
	}
}

// TestTurnsOfCancelledJobsAreStopped: a turn that ended by itself is no error.
func TestTurnsOfCancelledJobsAreStopped(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	turn := b.open(j, j.Thread, followed(j), chela.Overrides{})
	_, err := b.desk.Cancel(t.Context(), j.ID, "test")
	b.must(err)
	for _, c := range []struct {
		stop, want error
	}{
		{nil, nil},
		{chela.E(chela.Conflict, "it has ended"), nil},
		{errors.New("broken"), errors.New("broken")},
	} {
		b.stop, b.stopped = c.stop, nil
		err := b.desk.Look(t.Context(), j.ID)
		if (err == nil) != (c.want == nil) {
			t.Errorf("stop returned %v, look %v", c.stop, err)
		}
		if diff := cmp.Diff([]chela.TurnID{turn.ID}, b.stopped); diff != "" {
			t.Errorf("stopped (-want +got):\n%s", diff)
		}
	}
	b.must(b.desk.Look(t.Context(), "job_nothing"))
}

// TestBrokenTurnsAreStopped: a turn that broke too often is stopped, unless it has
// ended, and the job recovers either way.
func TestBrokenTurnsAreStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stop, ended, want bool }{
		"goes on":       {},
		"is stopped":    {stop: true, want: true},
		"ended already": {stop: true, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			b.broke = c.stop
			j := b.underWay(nil)
			turn := b.open(j, j.Thread, followed(j), chela.Overrides{})
			b.write(func(ctx context.Context, w *store.Write) error { return w.CountCrash(ctx, turn) })
			if turn.Crashes = 1; c.ended {
				b.end(turn, chela.TurnFailed)
			}
			b.must(b.desk.Look(t.Context(), j.ID))
			if got := b.job(j.ID); got.State != chela.JobRecovering || got.Reason != "broke" || got.Repairs != 1 || got.Turn != turn.ID {
				t.Errorf("job %+v", got)
			}
			if stopped := len(b.stopped) == 1 && b.stopped[0] == turn.ID; stopped != c.want || len(b.stopped) > 1 {
				t.Errorf("stopped %v, want the turn: %v", b.stopped, c.want)
			}
		})
	}
}

// TestArchiveTime: only the session of a job that has ended is archived, once, and
// not before its time.
func TestArchiveTime(t *testing.T) {
	t.Parallel()
	began := newBare(t).now
	for name, c := range map[string]struct {
		change   func(*chela.Job)
		later    time.Time
		archived time.Time
	}{
		"no time":  {func(j *chela.Job) { j.State = chela.JobCancelled }, time.Time{}, time.Time{}},
		"live":     {func(j *chela.Job) { j.ArchiveAt = began }, time.Time{}, time.Time{}},
		"too soon": {func(j *chela.Job) { j.State, j.ArchiveAt = chela.JobCancelled, began.Add(time.Minute) }, began.Add(time.Minute), time.Time{}},
		"due":      {func(j *chela.Job) { j.State, j.ArchiveAt = chela.JobCancelled, began }, time.Time{}, began},
		"archived before": {func(j *chela.Job) {
			j.State, j.ArchiveAt, j.ArchivedAt = chela.JobCancelled, began.Add(-time.Hour), began.Add(-time.Minute)
		}, time.Time{}, began.Add(-time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			j := b.underWay(nil)
			b.set(j.ID, c.change)
			later, err := b.desk.archive(t.Context(), j.ID)
			b.must(err)
			if got := b.job(j.ID).ArchivedAt; !later.Equal(c.later) || !got.Equal(c.archived) {
				t.Errorf("again at %v, archived at %v; want %v, %v", later, got, c.later, c.archived)
			}
		})
	}
	b := newBare(t)
	j := b.pending(nil) // has no session to archive
	b.set(j.ID, func(j *chela.Job) { j.State, j.ArchiveAt = chela.JobCancelled, began })
	_, err := b.desk.archive(t.Context(), j.ID)
	b.must(err)
	if got := b.job(j.ID).ArchivedAt; !got.Equal(began) {
		t.Errorf("a job that never began is archived at %v", got)
	}
}

// TestStoryIsCounted: what was said, asked and mended counts from the last
// beginning, and repairs by turn.
func TestStoryIsCounted(t *testing.T) {
	t.Parallel()
	prompted := func(by, text string) chela.JobEvent {
		return chela.JobEvent{Kind: chela.JobPrompted, By: by, Text: text}
	}
	moved := func(from, to chela.JobState) chela.JobEvent {
		return chela.JobEvent{Kind: chela.JobMoved, By: By, From: from, To: to, Text: "moved to " + string(to)}
	}
	begin := moved(chela.JobPending, chela.JobInProgress)
	for name, c := range map[string]struct {
		events    []chela.JobEvent
		reminders int
		said      []string
	}{
		"nothing":         {nil, 0, nil},
		"both":            {[]chela.JobEvent{prompted("me", "a"), prompted(By, "b"), prompted("me", "c")}, 1, []string{"a", "c"}},
		"other events":    {[]chela.JobEvent{{Kind: chela.JobPlanned, By: By, Text: "a"}, {Kind: chela.JobStepped, By: "me", Text: "b"}}, 0, nil},
		"a beginning":     {[]chela.JobEvent{prompted("me", "a"), prompted(By, "b"), begin, prompted(By, "c")}, 1, nil},
		"goes on":         {[]chela.JobEvent{prompted("me", "a"), prompted(By, "b"), moved(chela.JobAwaiting, chela.JobInProgress)}, 1, []string{"a"}},
		"leaves pending":  {[]chela.JobEvent{prompted("me", "a"), prompted(By, "b"), moved(chela.JobPending, chela.JobCancelled)}, 1, []string{"a"}},
		"is sent back":    {[]chela.JobEvent{moved(chela.JobSubmitted, chela.JobModified)}, 0, []string{"moved to modified"}},
		"no move at all":  {[]chela.JobEvent{prompted("me", "a"), {Kind: chela.JobRepaired, From: chela.JobPending, To: chela.JobInProgress}}, 0, []string{"a"}},
		"stepped to edit": {[]chela.JobEvent{{Kind: chela.JobStepped, To: chela.JobModified, Text: "a"}}, 0, nil},
	} {
		if got := reminders(c.events); got != c.reminders {
			t.Errorf("%s: %d reminders, want %d", name, got, c.reminders)
		}
		if diff := cmp.Diff(c.said, saidSince(c.events)); diff != "" {
			t.Errorf("%s: said (-want +got):\n%s", name, diff)
		}
	}
	repaired := func(key, why string) chela.JobEvent {
		return chela.JobEvent{Kind: chela.JobRepaired, Key: key, Text: why}
	}
	n, why := repairs([]chela.JobEvent{
		repaired("repair/a/1", "first"), repaired("repair/a/3", "third"), repaired("repair/a/2", "second"), repaired("repair/b/9", "other"),
		repaired("repair/a/x", "none"), repaired("5", "a message"),
	}, "a")
	if n != 3 || why != "third" {
		t.Errorf("run %d since %q, want 3 since third", n, why)
	}
}

// TestRepairsAreRead: the story of a job that was repaired is read also where its
// turn counts no crash.
func TestRepairsAreRead(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	turn := b.open(j, j.Thread, followed(j), chela.Overrides{})
	for i, want := range []struct {
		mended int
		why    string
	}{{1, ""}, {2, ""}, {3, "stuck again"}} {
		b.must(b.desk.Stuck(t.Context(), turn, "stuck again"))
		turn.Crashes++
		s := b.situation(j.ID)
		if s.Mended != want.mended || s.GivenUp != want.why || s.Job.Repairs != want.mended {
			t.Errorf("repair %d: mended %d, given up since %q, %d repairs; want %+v", i, s.Mended, s.GivenUp, s.Job.Repairs, want)
		}
		b.set(j.ID, func(j *chela.Job) { j.State = chela.JobInProgress })
	}
}

// TestRepairsOfAResumedJob: a run that broke off before the job was paused is not found
// again after it, although its repairs are counted anew.
func TestRepairsOfAResumedJob(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	turn := b.open(j, j.Thread, followed(j), chela.Overrides{})
	b.write(func(ctx context.Context, w *store.Write) error { return w.CountCrash(ctx, turn) })
	b.must(b.desk.Look(t.Context(), j.ID))
	b.set(j.ID, func(j *chela.Job) { j.State, j.Repairs = chela.JobInProgress, 0 })
	if s := b.situation(j.ID); s.Mended != 1 || len(s.Turns) != 1 || s.Turns[0].Crashes != 1 {
		t.Errorf("mended %d of %+v, want 1 of one turn that crashed once", s.Mended, s.Turns)
	}
}

// TestOrdersUpToTheLimit: an order is taken up to each limit, and refused beyond.
func TestOrdersUpToTheLimit(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	parts := func(n int) []string { return strings.Split(strings.Repeat("x", n), "") }
	for name, c := range map[string]struct {
		change func(*CreateRequest)
		want   chela.Kind
	}{
		"longest text":            {func(o *CreateRequest) { o.Text = strings.Repeat("x", chela.MaxMessageBytes) }, ""},
		"longest text with parts": {func(o *CreateRequest) { o.Text, o.Parts = strings.Repeat("x", chela.MaxMessageBytes/2), parts(1) }, ""},
		"too long with parts":     {func(o *CreateRequest) { o.Text, o.Parts = strings.Repeat("x", chela.MaxMessageBytes/2+1), parts(1) }, chela.Invalid},
		"most parts":              {func(o *CreateRequest) { o.Parts = parts(20) }, ""},
		"one part more":           {func(o *CreateRequest) { o.Parts = parts(21) }, chela.Invalid},
		"most urgent":             {func(o *CreateRequest) { o.Priority = 100 }, ""},
		"least urgent":            {func(o *CreateRequest) { o.Priority = -100 }, ""},
		"beyond urgent":           {func(o *CreateRequest) { o.Priority = 101 }, chela.Invalid},
		"below least urgent":      {func(o *CreateRequest) { o.Priority = -101 }, chela.Invalid},
		"negative steps":          {func(o *CreateRequest) { o.Options.Steps = -1 }, chela.Invalid},
		"negative time":           {func(o *CreateRequest) { o.Options.Timeout = -1 }, chela.Invalid},
		"negative tokens":         {func(o *CreateRequest) { o.Options.Tokens = -1 }, chela.Invalid},
		"deepest":                 {func(o *CreateRequest) { o.Origin.Generation = 4 }, ""},
		"too deep":                {func(o *CreateRequest) { o.Origin.Generation = 5 }, chela.Denied},
		"a part is never deep":    {func(o *CreateRequest) { o.Kind, o.Origin.Generation = chela.JobPart, 5 }, ""},
		"nobody is told":          {func(o *CreateRequest) { o.Requester = "" }, ""},
	} {
		o := CreateRequest{Agent: "main", Text: "dig", By: "test", Requester: "agent:main:main"}
		c.change(&o)
		if _, err := b.desk.complete(o); chela.KindOf(err) != c.want {
			t.Errorf("%s: error %v, want kind %q", name, err, c.want)
		}
	}
}

// TestSameKeyMakesOneJob: an order under a known key returns the job that it made,
// and another order under it is a Conflict unless a routine's run repeats it.
func TestSameKeyMakesOneJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*CreateRequest)
		want   chela.Kind
	}{
		"the same":      {func(*CreateRequest) {}, ""},
		"another agent": {func(o *CreateRequest) { o.Agent = "other" }, chela.Conflict},
		"another title": {func(o *CreateRequest) { o.Title = "other" }, chela.Conflict},
		"another text":  {func(o *CreateRequest) { o.Text = "other" }, chela.Conflict},
		"another part":  {func(o *CreateRequest) { o.Parts = []string{"a", "c"} }, chela.Conflict},
		"fewer parts":   {func(o *CreateRequest) { o.Parts = o.Parts[:1] }, chela.Conflict},
		"of a run":      {func(o *CreateRequest) { o.Text, o.Run = "other", "run_1" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			order := func(o *CreateRequest) { o.Key, o.Title, o.Parts = "k", "title", []string{"a", "b"} }
			first := b.pending(order)
			o := CreateRequest{Agent: "main", Text: "dig", By: "test", Requester: "agent:main:main"}
			order(&o)
			c.change(&o)
			j, err := b.desk.Create(t.Context(), o)
			if chela.KindOf(err) != c.want || j.ID != first.ID {
				t.Errorf("job %s, error %v; want %s, kind %q", j.ID, err, first.ID, c.want)
			}
			all, err := b.desk.Jobs(t.Context(), Filter{})
			if err != nil || len(all) != 3 {
				t.Errorf("%d jobs, %v; want the job and its parts", len(all), err)
			}
			if one, err := b.desk.Jobs(t.Context(), Filter{Limit: 1}); err != nil || len(one) != 1 {
				t.Errorf("a page of one job has %d, %v", len(one), err)
			}
		})
	}
}

// TestAnnouncements: an ended attempt is told once to the session that asked, and to
// a job only while that is live.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	asking := b.underWay(nil)
	announced := func(j chela.Job, attempt int) (in chela.Inbound, wanted bool) {
		t.Helper()
		b.must(b.desk.store.Read(t.Context(), func(r *store.Read) (err error) {
			in, wanted, err = b.desk.announcement(t.Context(), r, attemptArgs{j.ID, attempt})
			return err
		}))
		return in, wanted
	}
	own := b.underWay(func(o *CreateRequest) { o.Origin.Generation = 2 })
	nested := b.underWay(func(o *CreateRequest) { o.Requester, o.Origin = asking.Session, followed(asking) })
	if _, wanted := announced(own, 1); wanted {
		t.Error("a live job is announced")
	}
	for _, j := range []chela.Job{own, nested} {
		b.set(j.ID, func(j *chela.Job) { j.State, j.Result = chela.JobCompleted, "found it" })
	}
	in, wanted := announced(own, 1)
	if !wanted || in.Session != "agent:main:main" || in.Agent != "main" || in.Origin.Generation != 3 || in.Thread != "" ||
		in.MessageID != "announce/"+string(own.ID)+"/1" || !strings.Contains(in.Text, "found it") || in.Queue.Drop != chela.DropNever || in.Queue.Cap != 0 || in.Queue.Mode != chela.QueueCollect {
		t.Errorf("to the main session: %v %+v", wanted, in)
	}
	in, wanted = announced(nested, 1)
	if want := followed(asking); !wanted || in.Session != asking.Session || in.Agent != "main" || in.Origin.Generation != want.Generation ||
		in.Origin.Account != want.Account || in.Thread != asking.Thread || in.Queue.Cap != chela.MaxWaiting || in.Queue.Drop != chela.DropNever {
		t.Errorf("to a job: %v %+v", wanted, in)
	}
	other := b.underWay(func(o *CreateRequest) { o.Requester = "agent:ann:main" })
	b.set(other.ID, func(j *chela.Job) { j.State = chela.JobCancelled })
	if in, wanted := announced(other, 1); !wanted || in.Agent != "ann" {
		t.Errorf("to another agent: %v, agent %q", wanted, in.Agent)
	}
	if _, wanted := announced(own, 2); wanted {
		t.Error("an attempt that was never made is announced")
	}
	b.set(asking.ID, func(j *chela.Job) { j.State = chela.JobCancelled })
	if _, wanted := announced(nested, 1); wanted {
		t.Error("a job that has ended is told")
	}
	b.must(os.WriteFile(filepath.Join(b.files, "a\tb.txt"), []byte("bread"), 0o600))
	for range 2 {
		b.must(b.desk.tell(t.Context(), attemptArgs{own.ID, 1}))
	}
	if len(b.sent) != 1 || b.job(own.ID).AnnouncedAt.IsZero() {
		t.Errorf("%d messages, announced at %v", len(b.sent), b.job(own.ID).AnnouncedAt)
	}
	named := "\n- \"a\\tb.txt\" (5 bytes)\n\n" + reportEnding
	if text := b.sent[0].Text; own.Kind != chela.JobSubagent && !strings.HasSuffix(text, named) {
		t.Errorf("the files are not named: %s", text)
	}
}

// TestMessagesOfAnAttempt: a message is sent while its attempt takes messages and
// its budget of tokens is not spent.
func TestMessagesOfAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*chela.Job)
		attempt int
		sent    int
	}{
		"in progress":     {func(*chela.Job) {}, 1, 1},
		"awaiting":        {func(j *chela.Job) { j.State = chela.JobAwaiting }, 1, 1},
		"stuck":           {func(j *chela.Job) { j.State = chela.JobStuck }, 1, 1},
		"cancelled":       {func(j *chela.Job) { j.State = chela.JobCancelled }, 1, 0},
		"another attempt": {func(*chela.Job) {}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			j := b.underWay(nil)
			b.set(j.ID, c.change)
			b.must(b.desk.send(t.Context(), messageArgs{Job: j.ID, Attempt: c.attempt, Number: 1, Text: "dig"}))
			if len(b.sent) != c.sent {
				t.Errorf("%d messages were sent, want %d", len(b.sent), c.sent)
			}
		})
	}
	for _, c := range []struct{ asked, limit, want int }{{0, 0, 0}, {0, 5, 5}, {3, 0, 3}, {3, 5, 3}, {5, 5, 5}, {7, 5, 5}} {
		if got := bounded(c.asked, c.limit); got != c.want {
			t.Errorf("%d within %d is %d, want %d", c.asked, c.limit, got, c.want)
		}
	}
}
