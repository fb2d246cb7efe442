package job

import (
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
)

// TestBeginningText: the first message of a new thread is the job's text, and so is
// that of a continued thread without messages.
func TestBeginningText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		thread chela.ThreadID
		said   []string
		want   string
	}{
		{"", nil, "dig"}, {"", []string{"deeper"}, "dig\n\ndeeper"}, {"thr_1", []string{"deeper"}, "deeper"}, {"thr_1", nil, "dig"},
	} {
		if got := beginningText(chela.Job{Thread: c.thread, Text: "dig"}, c.said, nil); got != c.want {
			t.Errorf("thread %q with %q: %q, want %q", c.thread, c.said, got, c.want)
		}
	}
}

// TestPartsHaveNoPlan: a part neither plans nor is quiet, whatever its job does.
func TestPartsHaveNoPlan(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	a := &act{Jobs: b.desk}
	p := a.part(chela.Job{ID: "job_1", Options: chela.JobOptions{Plan: true, Quiet: true, Steps: 5}}, "dig", 2)
	if p.Options.Plan || p.Options.Quiet || p.Options.Steps != 5 || p.Place != 2 {
		t.Errorf("part %+v", p)
	}
}

// TestRestartBeginsWithoutAReason: a job that is created has the time of that, and one
// that is restarted waits for nothing and forgets why it failed.
func TestRestartBeginsWithoutAReason(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	if !j.CreatedAt.Equal(b.now) {
		t.Errorf("created at %v, want %v", j.CreatedAt, b.now)
	}
	b.set(j.ID, func(j *chela.Job) { j.State, j.Reason, j.Waits = chela.JobFailed, "it broke", 2 })
	if _, err := b.desk.Restart(t.Context(), j.ID, "test", api.RestartLimits{}); err != nil {
		t.Fatal(err)
	}
	if again := b.job(j.ID); again.Reason != "" || again.Waits != 0 {
		t.Errorf("waits for %d, reason %q", again.Waits, again.Reason)
	}
}

// TestRemindersDoNotSteer: a reminder waits behind the turn of its job.
func TestRemindersDoNotSteer(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	j := b.underWay(nil)
	b.work = nil
	b.must(b.desk.act(t.Context(), "test", func(a *act) error {
		return a.remind(t.Context(), &j, []chela.JobStep{{Place: 1, Text: "dig", State: chela.StepPending}})
	}))
	var m messageArgs
	if len(b.work) != 1 || json.Unmarshal(b.work[0].Args, &m) != nil || m.Steer || !strings.Contains(m.Text, "dig") {
		t.Errorf("work %+v, message %+v", b.work, m)
	}
}

// TestAnnouncementsWakeTheAskingJob: a job looks again once it was told of the end of
// another one that it asked for.
func TestAnnouncementsWakeTheAskingJob(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	asking := b.underWay(nil)
	nested := b.underWay(func(o *CreateRequest) { o.Requester, o.Origin = asking.Session, followed(asking) })
	b.set(nested.ID, func(j *chela.Job) { j.State, j.Result = chela.JobCompleted, "found it" })
	b.work = nil
	b.must(b.desk.tell(t.Context(), attemptArgs{nested.ID, 1}))
	if !b.has(chela.WorkFollow, string(asking.ID)) {
		t.Errorf("work %+v", b.work)
	}
}
