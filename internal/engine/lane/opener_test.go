package lane_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/engine/lane"
	"chela/internal/store"
)

// TestPlaces: a message makes its session once, and may name a thread of that
// session only.
func TestPlaces(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.place(inbound("hi"))
	if first.Session.Agent != "main" || first.Session.Settings.Last.Channel != "test" || first.Thread.ID != first.Session.Thread ||
		first.Thread.State != chela.ThreadIdle || !first.Session.CreatedAt.Equal(began) || !first.Thread.CreatedAt.Equal(began) {
		t.Errorf("placed at %+v", first)
	}
	if again := h.place(inbound("hi")); again.Thread.ID != first.Thread.ID || again.Lane.Arrivals != 2 {
		t.Errorf("then at thread %s, arrival %d", again.Thread.ID, again.Lane.Arrivals)
	}
	h.now = began.Add(time.Minute)
	fresh, s := h.NewThread(key), first.Session
	h.do(func(ctx context.Context, w *store.Write) error { return h.BeginAnew(ctx, w, &s, fresh) })
	if at := h.place(inbound("hi")); at.Thread.ID != fresh.ID || !at.Session.UpdatedAt.Equal(h.now) || s.Thread != fresh.ID {
		t.Errorf("after a new beginning at %+v", at)
	}
	named := inbound("hi")
	named.Thread = first.Thread.ID
	if at := h.place(named); at.Thread.ID != first.Thread.ID || at.Session.Thread != fresh.ID {
		t.Errorf("a named thread: %+v", at)
	}
	for thread, want := range map[chela.ThreadID]chela.Kind{fresh.ID: chela.Invalid, "thr_nothing": chela.NotFound} {
		other := inbound("hi")
		other.Session, other.Thread = "agent:main:dm:ann", thread
		err := h.try(func(ctx context.Context, w *store.Write) error {
			_, err := h.Place(ctx, w, other)
			return err
		})
		if chela.KindOf(err) != want {
			t.Errorf("thread %s from another session: %v, want kind %s", thread, err, want)
		}
	}
	err := h.try(func(ctx context.Context, w *store.Write) error {
		_, err := h.Place(ctx, w, chela.Inbound{Session: "nobody"})
		return err
	})
	if chela.KindOf(err) != chela.Invalid {
		t.Errorf("a session without a valid key: %v", err)
	}
}

// TestOpenWritesTheBeginning: a turn begins with its messages, after the earlier
// ones in a thread in which nothing was said yet.
func TestOpenWritesTheBeginning(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	in := inbound("hi there")
	in.History = []chela.Message{{Role: chela.RoleUser, Text: "before"}, {Role: chela.RoleAssistant, Text: "yes"}}
	texts := func(o *lane.OpenedTurn) (texts []string) {
		for i, e := range o.Entries {
			texts = append(texts, e.Text())
			if e.Thread != o.Turn.Thread || e.Turn != o.Turn.ID || e.Seq != o.Thread.Seq+int64(i)+1 || e.Tokens == 0 || !e.CreatedAt.Equal(h.now) {
				t.Errorf("entry %d: %+v", i, e)
			}
		}
		return texts
	}
	kinds := func(events []chela.Event) (kinds []chela.EventKind) {
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		return kinds
	}
	first := h.open(in, nil)
	if diff := cmp.Diff([]string{"before", "yes", "hi there"}, texts(first)); diff != "" {
		t.Errorf("entries of the first turn (-want +got):\n%s", diff)
	}
	want := []chela.EventKind{
		chela.EventSessionChanged, chela.EventTurnStarted, chela.EventEntryAppended, chela.EventEntryAppended, chela.EventEntryAppended,
	}
	if diff := cmp.Diff(want, kinds(h.told)); diff != "" {
		t.Errorf("events of the first turn (-want +got):\n%s", diff)
	}
	thread := find(h, func(ctx context.Context, r *store.Read) (chela.Thread, error) {
		return r.Thread(ctx, first.Turn.Thread)
	})
	if thread.Title != "hi there" || thread.State != chela.ThreadProcessing || thread.Seq != 3 || thread.Head != first.Entries[2].ID ||
		!thread.UpdatedAt.Equal(h.now) || first.Turn.Base != "" || first.Turn.Model != "script/test" {
		t.Errorf("thread %+v, turn %+v", thread, first.Turn)
	}
	h.end(first)
	in.Text = "more"
	second := h.open(in, nil)
	if diff := cmp.Diff([]string{"more"}, texts(second)); diff != "" {
		t.Errorf("entries of the second turn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]chela.EventKind{chela.EventTurnStarted, chela.EventEntryAppended}, kinds(h.told)); diff != "" {
		t.Errorf("events of the second turn (-want +got):\n%s", diff)
	}
	h.end(second)
	for name, thread := range map[string]chela.Thread{
		"a branch of a thread":                   {Head: thread.Head},
		"a thread from which all was taken back": {Seq: 4},
	} {
		thread.ID, thread.Session, thread.State, thread.CreatedAt, thread.UpdatedAt = h.IDs.Thread(), key, chela.ThreadIdle, h.now, h.now
		s := h.place(in).Session
		h.do(func(ctx context.Context, w *store.Write) error { return h.BeginAnew(ctx, w, &s, thread) })
		o := h.open(in, nil)
		if diff := cmp.Diff([]string{"more"}, texts(o)); diff != "" {
			t.Errorf("entries in %s (-want +got):\n%s", name, diff)
		}
		h.end(o)
	}
	if second.Thread.Title != "hi there" || second.Turn.Base != thread.Head {
		t.Errorf("the second turn: title %q, base %q", second.Thread.Title, second.Turn.Base)
	}
}

// TestSessionRemembersItsOrigin: the origin of the newest turn is kept without what
// belongs to one message, unless the turn is followed, and an archived session
// comes back.
func TestSessionRemembersItsOrigin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	session := func() chela.Session {
		return find(h, func(ctx context.Context, r *store.Read) (chela.Session, error) { return r.Session(ctx, key) })
	}
	h.end(h.open(inbound("hi"), nil))
	unchanged := session().UpdatedAt
	same := inbound("hi")
	same.Origin.Generation = 3
	h.end(h.open(same, nil))
	if s := session(); !s.UpdatedAt.Equal(unchanged) || s.Settings.Last.Generation != 0 {
		t.Errorf("the same origin changed the session: %+v", s)
	}
	other := inbound("hi")
	other.Origin.Channel, other.Origin.Generation = "chat", 2
	o := h.open(other, nil)
	h.end(o)
	if s := session(); s.Settings.Last.Channel != "chat" || s.Settings.Last.Generation != 0 || !s.UpdatedAt.Equal(o.Turn.CreatedAt) || o.Session.Settings.Last != s.Settings.Last {
		t.Errorf("another origin: %+v", s)
	}
	followed := inbound("hi")
	followed.Origin = chela.Origin{Channel: chela.ChannelJob, Account: "job_1", ReplyBy: chela.ReplyByFollow}
	h.end(h.open(followed, nil))
	if s := session(); s.Settings.Last.Channel != "chat" {
		t.Errorf("a job is the last origin: %+v", s.Settings.Last)
	}
	for name, in := range map[string]chela.Inbound{"followed": followed, "same": other} {
		h.do(func(ctx context.Context, w *store.Write) error {
			s, err := w.Session(ctx, key)
			if err != nil {
				return err
			}
			s.Settings.ArchivedAt = h.now
			return w.SaveSession(ctx, s)
		})
		h.end(h.open(in, nil))
		if s := session(); !s.Settings.ArchivedAt.IsZero() || s.Settings.Last.Channel != "chat" {
			t.Errorf("%s: an archived session stays so: %+v", name, s.Settings)
		}
	}
}

// TestNotesAreToldOnce: a turn begins with the messages that were dropped and the
// notes that were left since the last one.
func TestNotesAreToldOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		notes, dropped int
		want           []string // beginnings of the entries
	}{
		{0, 0, []string{"hi"}},
		{1, 0, []string{"Since the last turn:\n- [routine daily] note 0", "hi"}},
		{50, 0, []string{"Since the last turn:\n- [routine daily] note 0", "hi"}},
		{51, 0, []string{"Since the last turn:\n- (1 older ones are left out)\n- [routine daily] note 1", "hi"}},
		{52, 0, []string{"Since the last turn:\n- (2 older ones are left out)\n- [routine daily] note 2", "hi"}},
		{0, 2, []string{"2 messages sent while you were busy had to be dropped", "hi"}},
		{1, 1, []string{"One message sent while you were busy had to be dropped", "Since the last turn:\n- [routine daily] note 0", "hi"}},
	} {
		t.Run(fmt.Sprintf("%d notes, %d messages", c.notes, c.dropped), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.place(inbound("hi"))
			outside := chela.Provenance{Integrity: chela.IntegrityOutside, Source: "a page"}
			for i := range c.notes {
				h.do(func(ctx context.Context, w *store.Write) error {
					_, err := w.AddNote(ctx, chela.Note{
						Key: fmt.Sprint(i), Session: key, From: "routine daily", Text: fmt.Sprint("note ", i), Provenance: outside, CreatedAt: began.Add(time.Duration(i) * time.Millisecond),
					})
					return err
				})
			}
			for range c.dropped {
				h.message(inbound("dropped"), func(m *chela.InboxMessage) {
					m.State, m.Dropped, m.Origin.Provenance = chela.InboxDropped, chela.DropSummarize, outside
				})
			}
			for i, want := range [][]string{c.want, {"hi"}} {
				o := h.open(inbound("hi"), nil)
				var got []string
				for k, e := range o.Entries {
					text := e.Text()
					if k < len(want) && strings.HasPrefix(text, want[k]) {
						text = want[k]
					}
					got = append(got, text)
					if note := e.Kind() == chela.EntryNote; note != (k < len(o.Entries)-1) || note && e.Provenance() != outside {
						t.Errorf("entry %d: %+v", k, e)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("turn %d begins (-want +got):\n%s", i, diff)
				}
				h.end(o)
			}
			if at := h.place(inbound("hi")); at.Untold {
				t.Error("something is still to be told")
			}
		})
	}
}

// TestMakeRoom: what is dropped is announced, and owed as a notice to those who
// want their answer pushed.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	for drop, notice := range map[chela.QueueDrop]string{
		chela.DropOld:       "(dropped: too many messages wait in this session)",
		chela.DropSummarize: "(dropped: too many messages wait in this session; the next turn gets one line of it)",
	} {
		t.Run(string(drop), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.Queue.Cap, h.Queue.Drop = 2, drop
			pushed := inbound("first")
			pushed.Origin.ReplyBy, pushed.Origin.To = chela.ReplyByOutbox, "chat 5"
			messages := []chela.InboxMessage{h.message(pushed, nil), h.message(inbound("second"), nil)}
			room := func() []chela.Event {
				t.Helper()
				at := h.place(inbound("next"))
				h.do(func(ctx context.Context, w *store.Write) error { return h.MakeRoom(ctx, w, at, 2) })
				return h.told
			}
			if events := room(); len(events) > 0 {
				t.Errorf("with room for two: %+v", events)
			}
			for i, text := range []string{"third", "fourth"} {
				messages = append(messages, h.message(inbound(text), nil))
				want := []chela.Event{{Kind: chela.EventMessageDropped, Session: key, Inbox: messages[i].ID, Text: string(drop), At: h.now}}
				if diff := cmp.Diff(want, room(), cmpopts.IgnoreFields(chela.Event{}, "Cursor")); diff != "" {
					t.Errorf("events of the %s message (-want +got):\n%s", text, diff)
				}
				m := find(h, func(ctx context.Context, r *store.Read) (chela.InboxMessage, error) {
					return r.Message(ctx, messages[i].ID)
				})
				if m.State != chela.InboxDropped || m.Dropped != drop {
					t.Errorf("message %d is %s by %q", i, m.State, m.Dropped)
				}
			}
			owed := find(h, func(ctx context.Context, r *store.Read) ([]chela.Outbound, error) { return r.Owed(ctx, "test", 10) })
			if len(owed) != 1 || owed[0].Text != notice || owed[0].To.To != "chat 5" || owed[0].Session != key || owed[0].State != chela.OutboxPending {
				t.Errorf("owed: %+v", owed)
			}
		})
	}
	h := newHome(t)
	h.Queue.Cap, h.Queue.Drop = 1, chela.DropNew
	h.message(inbound("first"), nil)
	h.message(inbound("second"), nil)
	err := h.try(func(ctx context.Context, w *store.Write) error {
		at, err := h.Place(ctx, w, inbound("x"))
		if err == nil {
			err = h.MakeRoom(ctx, w, at, 1)
		}
		return err
	})
	if chela.KindOf(err) != chela.Exhausted {
		t.Errorf("a message without room: %v", err)
	}
}

// TestInterrupt: a message that interrupts stops the turn of the lane and the one of
// its own thread, and makes one that waits ready to end.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// Three threads: the lane runs a turn in the first one, turns wait in the others.
	var opened []*lane.OpenedTurn
	for range 3 {
		at := h.place(inbound("hi"))
		s := at.Session
		h.do(func(ctx context.Context, w *store.Write) error { return h.BeginAnew(ctx, w, &s, h.NewThread(key)) })
		opened = append(opened, h.open(inbound("hi"), nil))
	}
	running, own, other := opened[0].Turn, h.wait(opened[1]), h.wait(opened[2])
	interrupt := func(mode chela.QueueMode) (stopped []chela.TurnID) {
		t.Helper()
		m := h.message(inbound("now"), func(m *chela.InboxMessage) { m.Thread, m.Queue.Mode = own.Thread, mode })
		h.do(func(ctx context.Context, w *store.Write) (err error) {
			stopped, err = h.Interrupt(ctx, w, store.Lane{Lease: store.Lease{Session: key}, Turn: running.ID}, m)
			return err
		})
		return stopped
	}
	for _, mode := range []chela.QueueMode{chela.QueueFollowup, chela.QueueSteer, chela.QueuePlain} {
		if stopped := interrupt(mode); len(stopped) > 0 {
			t.Errorf("a message of mode %s stopped %v", mode, stopped)
		}
	}
	stopped := interrupt(chela.QueueInterrupt)
	if diff := cmp.Diff([]chela.TurnID{running.ID, own.ID}, stopped); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
	type state struct {
		Turn   chela.TurnState
		Thread chela.ThreadState
		Stop   bool
	}
	for _, c := range []struct {
		turn chela.Turn
		want state
	}{
		{running, state{chela.TurnProcessing, chela.ThreadProcessing, true}},
		{own, state{chela.TurnProcessing, chela.ThreadProcessing, true}},
		{other, state{chela.TurnAwaiting, chela.ThreadAwaiting, false}},
	} {
		turn := find(h, func(ctx context.Context, r *store.Read) (chela.Turn, error) { return r.Turn(ctx, c.turn.ID) })
		thread := find(h, func(ctx context.Context, r *store.Read) (chela.Thread, error) { return r.Thread(ctx, turn.Thread) })
		if got := (state{turn.State, thread.State, turn.Stop}); got != c.want {
			t.Errorf("turn %s: %+v, want %+v", turn.ID, got, c.want)
		}
	}
	err := h.try(func(ctx context.Context, w *store.Write) error { return lane.ResumeTurn(ctx, w, running, h.now) })
	if chela.KindOf(err) != chela.Conflict {
		t.Errorf("resumed a turn that runs: %v", err)
	}
}

// TestNext: a lane goes on with the turn that is ready, else with what waits for a
// thread that rests.
func TestNext(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	next := func() (o *lane.OpenedTurn, later time.Time) {
		t.Helper()
		s := h.place(inbound("x")).Session
		h.do(func(ctx context.Context, w *store.Write) (err error) {
			o, later, err = h.Next(ctx, w, s)
			return err
		})
		return o, later
	}
	if o, later := next(); o != nil || !later.IsZero() {
		t.Errorf("an empty lane goes on with %+v at %v", o, later)
	}
	first := h.open(inbound("hi"), nil)
	h.message(inbound("second"), nil)
	if o, _ := next(); o == nil || o.Turn.ID != first.Turn.ID || o.Entries != nil {
		t.Errorf("with a turn that is ready: %+v", o)
	}
	h.wait(first)
	if o, later := next(); o != nil || !later.IsZero() {
		t.Errorf("while the thread waits for a person: %+v at %v", o, later)
	}
	s := h.place(inbound("x")).Session
	h.do(func(ctx context.Context, w *store.Write) error { return h.BeginAnew(ctx, w, &s, h.NewThread(key)) })
	h.Queue.DebounceMS = 1000
	third := h.message(inbound("third"), nil)
	if o, later := next(); o != nil || !later.Equal(third.CreatedAt.Add(time.Second)) {
		t.Errorf("before it was quiet for a second: %+v at %v", o, later)
	}
	h.now = h.now.Add(time.Second)
	o, _ := next()
	if o == nil || len(o.Entries) != 1 || o.Entries[0].Text() != "third" || o.Turn.Thread != third.Thread {
		t.Fatalf("with a message for another thread: %+v", o)
	}
	m := find(h, func(ctx context.Context, r *store.Read) (chela.InboxMessage, error) { return r.Message(ctx, third.ID) })
	if m.State != chela.InboxTaken || m.Turn != o.Turn.ID {
		t.Errorf("the message is %s by %q", m.State, m.Turn)
	}
}

// TestSuspect: a turn runs alone after two crashes, if its process died.
func TestSuspect(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{false, true} {
		for crashes := range 4 {
			o := lane.OpenedTurn{Left: left, Turn: chela.Turn{Crashes: crashes}}
			if got, want := o.Suspect(), left && crashes == 1; got != want {
				t.Errorf("left %v with %d crashes: %v, want %v", left, crashes, got, want)
			}
		}
	}
	o := &lane.OpenedTurn{Entries: []chela.Entry{{}}, Class: chela.ClassMain}
	if again := o.Afresh(); again.Entries != nil || again.Class != o.Class || o.Entries == nil {
		t.Errorf("afresh %+v of %+v", again, o)
	}
}
