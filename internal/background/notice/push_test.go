package notice_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/notice"
	"chela/internal/background/push"
	"chela/internal/background/routine/rule"
	"chela/internal/background/work"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// A phone is a target that keeps what it gets, or refuses it.
type phone struct {
	got     []push.Message
	refuses error // after it has shown the message
}

func (p *phone) target() push.Target { return push.Target{Name: push.NtfyName, Send: p.Send} }

func (p *phone) Send(_ context.Context, m push.Message) error {
	p.got = append(p.got, m)
	return p.refuses
}

// titles are what the phone shows, the newest message last.
func (p *phone) titles() (all []string) {
	for _, m := range p.got {
		all = append(all, m.Title+" | "+strings.ReplaceAll(m.Brief, "\n", " / "))
	}
	return all
}

// A desk is a process with notices, over a database.
type desk struct {
	t     *testing.T
	store *store.Store
	now   time.Time
	phone *phone
	notes *notice.Notices
	cfg   notice.Config
}

// begun is a Monday morning.
var begun = time.Date(2035, 5, 7, 9, 0, 0, 0, time.UTC)

func setup(t *testing.T, change ...func(*notice.PushConfig)) *desk {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "chela.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d := &desk{t: t, store: s, now: begun, phone: &phone{}}
	log := slog.New(slog.DiscardHandler)
	process := local.Process{IDs: chela.NewIDs(time.Now, rand.Reader), Now: func() time.Time { return d.now }, Emit: func(chela.Event) {}, Log: log}
	d.cfg = notice.Config{Process: process, Push: notice.PushConfig{
		Work:    work.New(s, work.Config{Process: process, Random: func() float64 { return 0 }}),
		Targets: []push.Target{d.phone.target()}, Kinds: chela.NoticeKinds(), Delay: 15 * time.Second, Away: 10 * time.Minute,
		Present: func(chela.SessionKey) bool { return false },
		Redact:  func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") },
	}}
	for _, c := range change {
		c(&d.cfg.Push)
	}
	d.restart()
	return d
}

// restart begins with the notices of a new process.
func (d *desk) restart() { d.notes = notice.New(d.store, d.cfg) }

// tell tells a notice of a routine, by its key.
func (d *desk) tell(key, text string) {
	d.t.Helper()
	d.write(func(w *store.Write) error {
		return d.notes.Tell(d.t.Context(), w, notice.Notice{
			Key: "run/" + key, Agent: "main", From: "tea", Title: "tea", Text: text, Kind: chela.NoticeRoutine,
		})
	})
}

// ended pushes that a job ended, by its id.
func (d *desk) ended(id string, change ...func(*chela.Job)) {
	d.t.Helper()
	j := chela.Job{ID: chela.JobID(id), Kind: chela.JobPlain, Agent: "main", Title: "bake " + id, State: chela.JobCompleted, Result: "Baked.", Attempt: 1}
	for _, c := range change {
		c(&j)
	}
	d.write(func(w *store.Write) error { return d.notes.JobEnded(d.t.Context(), w, j) })
}

func (d *desk) write(do func(w *store.Write) error) {
	d.t.Helper()
	if err := d.store.Write(d.t.Context(), "test", do); err != nil {
		d.t.Fatal(err)
	}
}

// deliver performs the work of the phone after some time. It returns when that work is
// due again, as a time after now; zero if it is done.
func (d *desk) deliver(after time.Duration) time.Duration {
	d.t.Helper()
	d.now = d.now.Add(after)
	out, err := d.notes.Kinds()[0].Handle(d.t.Context(), chela.Work{Kind: notice.WorkPush, Key: push.NtfyName})
	if err != nil {
		d.t.Fatal(err)
	}
	if out.Again.IsZero() {
		return 0
	}
	return out.Again.Sub(d.now)
}

// rows are the states of the rows of the phone with their errors.
func (d *desk) rows() map[chela.OutboxState]int {
	d.t.Helper()
	owed, err := store.Find(d.t.Context(), d.store, func(r *store.Read) ([]chela.Outbound, error) { return r.Owed(d.t.Context(), push.NtfyName, 100) })
	if err != nil {
		d.t.Fatal(err)
	}
	lost, err := store.Find(d.t.Context(), d.store, func(r *store.Read) ([]chela.Outbound, error) {
		return r.Undelivered(d.t.Context(), push.NtfyName, time.Time{})
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return map[chela.OutboxState]int{chela.OutboxPending: len(owed), chela.OutboxFailed: len(lost)}
}

func (d *desk) want(titles ...string) {
	d.t.Helper()
	if diff := cmp.Diff(titles, d.phone.titles()); diff != "" {
		d.t.Errorf("the phone shows (-want +got):\n%s", diff)
	}
}

// TestNoticeIsPushed after its delay, once, without credentials.
func TestNoticeIsPushed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.tell("1", "The password is hunter2.")
	d.tell("1", "The password is hunter2.")
	if again := d.deliver(5 * time.Second); again != 10*time.Second {
		t.Errorf("due again in %v", again)
	}
	d.want()
	if again := d.deliver(10 * time.Second); again != 0 {
		t.Errorf("due again in %v", again)
	}
	d.deliver(time.Hour)
	d.want("chela: routine report | tea")
	if got := d.phone.got[0].Text; got != "tea: The password is [redacted]." {
		t.Errorf("the text is %q", got)
	}
	d.tell("1", "The password is hunter2.")
	d.deliver(time.Hour)
	d.want("chela: routine report | tea")
}

// TestFullBatchWaits: as many notices as one batch reads are looked at again when the
// first is due, and not at once.
func TestFullBatchWaits(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for i := range 100 {
		d.tell(strconv.Itoa(i), "the same")
	}
	if next := d.deliver(0); next != 15*time.Second {
		t.Errorf("the batch is read again after %v", next)
	}
	d.deliver(15 * time.Second)
	d.want("chela: 100 routine reports | tea (100 times)")
}

// TestReadNoticeIsNotPushed: who read it in a chat is not told again.
func TestReadNoticeIsNotPushed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.tell("1", "first")
	d.tell("2", "second")
	pending, err := d.notes.Pending(t.Context(), "terminal")
	if err != nil || len(pending) != 2 {
		t.Fatal(pending, err)
	}
	if err := d.notes.Seen(t.Context(), "terminal", []chela.OutboxID{pending[0].ID}); err != nil {
		t.Fatal(err)
	}
	d.deliver(time.Minute)
	if len(d.phone.got) != 1 || d.phone.got[0].Text != "tea: second" {
		t.Errorf("the phone got %v", d.phone.got)
	}
}

// TestOpenChatIsNotDisturbed: the end of a job is not pushed while a chat follows its
// session, and a question only after a while.
func TestOpenChatIsNotDisturbed(t *testing.T) {
	t.Parallel()
	d := setup(t, func(c *notice.PushConfig) {
		c.Present = func(key chela.SessionKey) bool { return key == "agent:main:main" }
	})
	d.ended("job_1", func(j *chela.Job) { j.Requester = "agent:main:main" })
	d.ended("job_2", func(j *chela.Job) { j.Requester = "agent:main:main:thread:site" })
	d.ask("apr_1")
	if again := d.deliver(time.Minute); again != 9*time.Minute {
		t.Errorf("the question is due in %v", again)
	}
	d.want("chela: job ended | finished: bake job_2")
	d.deliver(9 * time.Minute)
	d.want("chela: job ended | finished: bake job_2", "chela: approval needed | shell in main")
}

// TestAnsweredQuestionIsNotPushed.
func TestAnsweredQuestionIsNotPushed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	a := d.ask("apr_1")
	d.ask("apr_2")
	a.State, a.Answer, a.AnsweredAt = chela.ApprovalDenied, chela.AnswerNo, d.now
	d.write(func(w *store.Write) error { return w.MoveApproval(t.Context(), a) })
	d.deliver(time.Minute)
	d.want("chela: approval needed | shell in main")
	if !strings.Contains(d.phone.got[0].Text, "apr_2") {
		t.Errorf("pushed is %q", d.phone.got[0].Text)
	}
}

// TestQuietHours collects the notices of a night into one message of the morning.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := rule.ParseWindow("22:00", "07:00", zone)
	if err != nil {
		t.Fatal(err)
	}
	d := setup(t, func(c *notice.PushConfig) { c.Quiet = &quiet })
	d.now = time.Date(2035, 5, 7, 23, 30, 10, 0, zone)
	for _, key := range strings.Fields("1 2 3") {
		d.tell(key, "Tea is ready.")
	}
	d.ended("job_1")
	if again := d.deliver(0); d.now.Add(again).In(zone).Format(time.DateTime) != "2035-05-08 07:00:00" {
		t.Errorf("due again in %v", again)
	}
	d.want()
	d.deliver(8 * time.Hour)
	d.want("chela: job ended, 3 routine reports | finished: bake job_1 / tea (3 times)")
}

// TestDeathAfterSending sends a message again with the same id if the process died
// before it recorded that, although others have become due meanwhile.
func TestDeathAfterSending(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.tell("1", "first")
	ctx, dies := context.WithCancel(t.Context())
	d.cfg.Push.Targets = []push.Target{{Name: push.NtfyName, Send: func(ctx context.Context, m push.Message) error {
		defer dies()
		return d.phone.Send(ctx, m)
	}}}
	d.restart()
	d.now = d.now.Add(time.Minute)
	if _, err := d.notes.Kinds()[0].Handle(ctx, chela.Work{Kind: notice.WorkPush, Key: push.NtfyName}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if rows := d.rows(); rows[chela.OutboxPending] != 1 {
		t.Errorf("the rows are %v", rows)
	}
	d.cfg.Push.Targets = []push.Target{d.phone.target()}
	d.restart()
	d.tell("2", "second")
	d.deliver(time.Minute)
	d.want("chela: routine report | tea", "chela: 2 routine reports | tea (2 times)")
	if d.phone.got[0].ID != d.phone.got[1].ID {
		t.Errorf("the ids are %q and %q", d.phone.got[0].ID, d.phone.got[1].ID)
	}
	d.deliver(time.Hour)
	if len(d.phone.got) != 2 {
		t.Errorf("%d messages were sent", len(d.phone.got))
	}
}

// TestFailingTarget: the pauses between attempts grow, a delay that the server asks for
// is kept, and after the last attempt or a permanent refusal the notice is given up.
func TestFailingTarget(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.tell("1", "first")
	d.phone.refuses = chela.E(chela.Unavailable, "there is no network")
	wait := d.deliver(time.Minute)
	if wait != 30*time.Second {
		t.Errorf("the second attempt is due in %v", wait)
	}
	d.tell("2", "second") // does not shorten the pause
	if again := d.deliver(20 * time.Second); again != 10*time.Second || len(d.phone.got) != 1 {
		t.Errorf("due again in %v after %d messages", again, len(d.phone.got))
	}
	d.phone.refuses = &push.Delay{Err: chela.E(chela.Exhausted, "too many"), After: time.Hour}
	if again := d.deliver(10 * time.Second); again != time.Hour {
		t.Errorf("the server asked for an hour, and it is %v", again)
	}
	tries := len(d.phone.got)
	for wait = time.Hour; wait > 0; tries++ {
		wait = d.deliver(wait)
	}
	if rows := d.rows(); rows[chela.OutboxPending] != 0 || rows[chela.OutboxFailed] != 2 || tries != 13 {
		t.Errorf("after %d attempts the rows are %v", tries, rows)
	}
	d.phone.refuses = chela.E(chela.Denied, "wrong token")
	d.tell("3", "third")
	if again := d.deliver(2 * time.Hour); again != 0 || d.rows()[chela.OutboxFailed] != 3 {
		t.Errorf("due again in %v, the rows are %v", again, d.rows())
	}
}

// TestWhatIsPushed: only kinds that are wanted, and to targets that are turned on.
func TestWhatIsPushed(t *testing.T) {
	t.Parallel()
	d := setup(t, func(c *notice.PushConfig) { c.Kinds = []chela.NoticeKind{chela.NoticeJob} })
	d.tell("1", "unwanted")
	for name, change := range map[string]func(*chela.Job){
		"cancelled": func(j *chela.Job) { j.State = chela.JobCancelled },
		"part":      func(j *chela.Job) { j.Kind = chela.JobPart },
		"routine":   func(j *chela.Job) { j.Run = "run_1" },
	} {
		d.ended("job_"+name, change)
	}
	d.ended("job_failed", func(j *chela.Job) { j.State, j.Reason = chela.JobFailed, "no flour" })
	d.ended("job_private", func(j *chela.Job) { j.Origin.Provenance.Privacy = chela.PrivacyPrivate })
	d.deliver(time.Minute)
	d.want("chela: 2 jobs ended | failed: bake job_failed / finished: job_private")
	if !strings.Contains(d.phone.got[0].Text, "bake job_failed (job_failed): failed: no flour") {
		t.Errorf("the text is %q", d.phone.got[0].Text)
	}
	d.ended("job_late")
	d.cfg.Push.Targets = nil
	d.restart()
	d.deliver(time.Minute)
	if rows := d.rows(); len(d.phone.got) != 1 || rows[chela.OutboxPending] != 0 || rows[chela.OutboxFailed] != 0 {
		t.Errorf("a target that is turned off has the rows %v", rows)
	}
}

// ask has a turn of the main session ask a question, and tells of it.
func (d *desk) ask(id chela.ApprovalID) (a chela.Approval) {
	d.t.Helper()
	ctx, key := d.t.Context(), chela.MainKey("main")
	turn := chela.Turn{ID: "turn_1", Session: key, State: chela.TurnAwaiting, CreatedAt: d.now}
	d.write(func(w *store.Write) error {
		// A notice of another kind creates the session.
		if err := d.notes.Push(ctx, w, notice.Notice{Key: "x", Agent: "main", Kind: chela.NoticeMessage, Watch: key, Title: "x", Text: "x"}); err != nil {
			return err
		}
		if err := d.notes.Drop(ctx, w, "x"); err != nil {
			return err
		}
		s, err := w.Session(ctx, key)
		if err != nil {
			return err
		}
		turn.Thread = s.Thread
		if _, err := w.Turn(ctx, turn.ID); err != nil {
			if err := w.OpenTurn(ctx, turn); err != nil {
				return err
			}
		}
		call := chela.ToolCall{ID: chela.CallID("call_" + id), Turn: turn.ID, Thread: s.Thread, Session: key, Step: 1, Index: len(id) + int(id[len(id)-1]), Tool: "shell", State: chela.CallRequested, CreatedAt: d.now}
		if err := w.AddCall(ctx, call); err != nil {
			return err
		}
		a = chela.Approval{
			ID: id, Call: call.ID, Turn: turn.ID, Thread: s.Thread, Session: key, State: chela.ApprovalPending, Tool: "shell", ArgsHash: "0",
			Preview: "make", CreatedAt: d.now, ExpiresAt: d.now.Add(time.Hour),
		}
		return w.AddApproval(ctx, a)
	})
	if err := d.notes.TellTurn(ctx, turn); err != nil {
		d.t.Fatal(err)
	}
	return a
}
