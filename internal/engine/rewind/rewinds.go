package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/fail"
	"chela/internal/platform/local"
	"chela/internal/store"
	"chela/internal/tool/workspace"
)

// Config holds the dependencies of a mover. All fields are required.
type Config struct {
	local.Process

	Workspace workspace.Finder
	Documents documents
	Lanes     lanes
	Bytes     func(ctx context.Context, sha256 string) ([]byte, error) // loads the content of a pre-image

	// Tools describe the calls that are not undone.
	Tools []chela.Tool

	Wait func(ctx context.Context, id chela.TurnID) error
}

// lanes stop and resume turns.
type lanes interface {
	// Stop asks a turn to stop. It returns Conflict if the turn has ended.
	Stop(ctx context.Context, id chela.TurnID) error
	// Wake resumes a session with waiting work.
	Wake(ctx context.Context, key chela.SessionKey) error
}

// documents is the document store of all agents.
type documents interface {
	Read(ctx context.Context, agent, path string) (chela.Document, error)
	Write(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
	Delete(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

// Rewinds moves the heads of threads. It is safe for concurrent use.
type Rewinds struct {
	cfg   Config
	store *store.Store

	mu   sync.Mutex
	busy map[chela.RewindID]bool // guarded by mu; rewinds in progress in this process
}

// New returns a mover of the threads in a store.
func New(s *store.Store, cfg Config) *Rewinds {
	return &Rewinds{cfg: cfg, store: s, busy: map[chela.RewindID]bool{}}
}

// maxUndo is the maximum number of turns undone at once.
const maxUndo = 1000

// maxKey is the maximum length of a request's key, in bytes.
const maxKey = 256

// A request describes one move.
type request struct {
	api.RewindOptions
	thread chela.ThreadID
	kind   chela.RewindKind
}

// target returns the entry that the head of a thread is to move to.
func (q request) target(ctx context.Context, r *store.Read, t chela.Thread) (chela.EntryID, error) {
	switch q.kind {
	case chela.RewindUndo:
		return beforeLast(ctx, r, t, q.Turns)
	case chela.RewindRedo:
		back, err := arrival(ctx, r, t)
		return back.From, err
	default:
		return find(ctx, r, t, q.To)
	}
}

// beforeLast returns the entry before the last n turns of a thread, or a Conflict if
// there are fewer.
func beforeLast(ctx context.Context, r *store.Read, t chela.Thread, n int) (chela.EntryID, error) {
	last, err := r.Stretches(ctx, t.Head, n)
	switch {
	case err != nil:
		return "", err
	case len(last) == 0:
		return "", chela.E(chela.Conflict, "there is nothing to undo in thread "+string(t.ID))
	case len(last) < n:
		return "", chela.Ef(chela.Conflict, "there are only %d turns to undo in thread %s", len(last), t.ID).
			WithHint(fmt.Sprintf("undo %d", len(last)))
	}
	return last[n-1].Base, nil
}

// arrival returns the undo or restore that led to the current head, or a
// Conflict.
func arrival(ctx context.Context, r *store.Read, t chela.Thread) (chela.Rewind, error) {
	back, ok, err := r.LastArrival(ctx, t.ID, t.Head)
	if err == nil && !ok {
		err = chela.E(chela.Conflict, "there is nothing to redo in thread "+string(t.ID)).
			WithHint("a new turn starts another branch; see chela threads show")
	}
	return back, err
}

// errMoved is a Conflict with a concurrent change of the thread; the plan is
// retried.
var errMoved = chela.E(chela.Conflict, "the thread was changed concurrently").WithHint("try again")

// maxTries is the number of attempts to plan a rewind.
const maxTries = 8

// Rewind moves the head of a thread, unless the key of the request was used
// before:
//
//   - undo: to before its last turns; a running turn is stopped and counted. It
//     is a Conflict if there are fewer turns
//   - redo: back to where the undo or restore came from that led to the current
//     head. It is a Conflict if there is none
//   - restore: to a checkpoint, to an entry, or to the end of a turn of the thread
//
// It is a Conflict if a file differs from the journal's record: then nothing is
// changed, and the error's detail shows the difference.
func (m *Rewinds) Rewind(ctx context.Context, thread chela.ThreadID, kind chela.RewindKind, how api.RewindOptions) (v chela.Rewind, err error) {
	if kind == chela.RewindUndo && (how.Turns < 1 || how.Turns > maxUndo) {
		return v, chela.Ef(chela.Invalid, "%d turns cannot be undone at once", how.Turns).
			WithHint(fmt.Sprintf("undo 1 to %d", maxUndo))
	}
	session, err := m.session(ctx, thread, how.Key)
	if err != nil {
		return v, err
	}
	before, known, err := m.known(ctx, session.Key, how.Key)
	if err != nil || known {
		return before, err
	}
	for range maxTries {
		if v, err = m.begin(ctx, request{how, thread, kind}, session); !errors.Is(err, errMoved) {
			break
		}
	}
	return v, err
}

// session returns the session of a thread, after finishing rewinds left in it
// by dead processes.
func (m *Rewinds) session(ctx context.Context, thread chela.ThreadID, key string) (s chela.Session, err error) {
	if len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' }) {
		return s, chela.Ef(chela.Invalid, "the request key must be one line of at most %d bytes", maxKey).WithHint("use a shorter one")
	}
	err = m.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Thread(ctx, thread)
		if err != nil {
			return err
		}
		s, err = r.Session(ctx, t.Session)
		return err
	})
	if err != nil {
		return s, err
	}
	return s, m.Finish(ctx, s.Key)
}

// known returns the result of an earlier request with the same key, and whether
// there was one.
func (m *Rewinds) known(ctx context.Context, session chela.SessionKey, key string) (v chela.Rewind, ok bool, err error) {
	if key == "" || fail.Mutant("request-again") {
		return v, false, nil
	}
	err = m.store.Read(ctx, func(r *store.Read) (err error) {
		v, ok, err = r.RewindByKey(ctx, session, key)
		return err
	})
	if err == nil && ok && !v.State.Ended() {
		err = underWay(v.Thread)
	}
	return v, ok, err
}

func underWay(thread chela.ThreadID) error {
	return chela.E(chela.Conflict, "thread "+string(thread)+" is already being rewound").WithHint("try again in a moment")
}

// begin resolves the target of a request and carries it out. It is errMoved if
// the thread changes before anything is written.
func (m *Rewinds) begin(ctx context.Context, q request, s chela.Session) (chela.Rewind, error) {
	v := chela.Rewind{
		ID: m.cfg.IDs.Rewind(), Session: s.Key, Thread: q.thread, Kind: q.kind, Key: q.Key, KeepFiles: q.KeepFiles,
		Node: m.cfg.Node, CreatedAt: m.now(),
	}
	v.RenewedAt = v.CreatedAt
	var live chela.TurnID
	err := m.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Thread(ctx, q.thread)
		if err != nil {
			return err
		}
		open, err := r.OpenRewinds(ctx, s.Key)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(open, func(v chela.Rewind) bool { return v.Thread == t.ID }) {
			return underWay(t.ID)
		}
		if v.To, err = q.target(ctx, r, t); err != nil {
			return err
		}
		live, err = liveTurn(ctx, r, t)
		return err
	})
	if err != nil {
		return v, err
	}
	m.claim(v.ID)
	defer m.letGo(v.ID)
	if live != "" {
		if err := m.interrupt(ctx, &v, live); err != nil {
			return v, err
		}
	}
	return m.carryOut(ctx, v, s.Agent)
}

// liveTurn returns the open turn of a thread, or "".
func liveTurn(ctx context.Context, r *store.Read, t chela.Thread) (chela.TurnID, error) {
	if t.State != chela.ThreadProcessing && t.State != chela.ThreadAwaiting {
		return "", nil
	}
	live, err := r.LiveTurns(ctx, t.Session)
	for _, turn := range live {
		if turn.Thread == t.ID {
			return turn.ID, err
		}
	}
	return "", err
}

// interrupt stores that a rewind waits for the end of a turn, which prevents
// the next turn from opening, and stops the turn.
func (m *Rewinds) interrupt(ctx context.Context, v *chela.Rewind, turn chela.TurnID) error {
	v.State = chela.RewindAsked
	err := m.store.Write(ctx, "rewind.ask", func(w *store.Write) error {
		t, err := lock(ctx, w, *v)
		if err != nil {
			return err
		}
		if live, err := liveTurn(ctx, &w.Read, t); err != nil || live != turn {
			return errors.Join(err, errMoved)
		}
		return w.AddRewind(ctx, *v)
	})
	if err != nil {
		return err
	}
	if err := m.cfg.Lanes.Stop(ctx, turn); err != nil && chela.KindOf(err) != chela.Conflict {
		return err
	}
	return m.holding(ctx, *v, func(ctx context.Context) error { return m.cfg.Wait(ctx, turn) })
}

// now returns the time with the precision of the store.
func (m *Rewinds) now() time.Time { return m.cfg.Now().UTC().Truncate(time.Microsecond) }
