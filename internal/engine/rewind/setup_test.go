package rewind_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/memory"
	"chela/internal/platform/datadir"
	"chela/internal/platform/local"
	"chela/internal/store"
	"chela/internal/tool/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const main = chela.SessionKey("agent:main:main")

// A world is a home with one session, whose turns are written by the test.
type world struct {
	*rewind.Rewinds
	store *store.Store
	blobs *datadir.Blobs
	docs  *memory.Documents
	ids   *chela.IDs
	dir   string // the workspace
	home  string

	session chela.SessionKey
	thread  chela.ThreadID // the current one
	meddle  func()         // after a document was read
	waits   func()         // until the end of a turn is known
	stopped []chela.TurnID
	woken   int
	dead    map[chela.NodeID]bool
	told    []chela.Event
}

func newWorld(t testing.TB) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{home: home, dir: filepath.Join(home, "workspace"), session: main, dead: map[chela.NodeID]bool{}}
	for _, dir := range []string{w.dir, filepath.Join(home, "blobs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.ids = chela.NewIDs(time.Now, rand.Reader)
	w.start(t)
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		w.thread = w.ids.Thread()
		s := chela.Session{Key: w.session, Agent: "main", Thread: w.thread, CreatedAt: now(), UpdatedAt: now()}
		if err := tx.CreateSession(ctx, s, chela.ClassMain); err != nil {
			return err
		}
		return tx.CreateThread(ctx, chela.Thread{ID: w.thread, Session: w.session, State: chela.ThreadIdle, CreatedAt: now(), UpdatedAt: now()})
	})
	return w
}

// start opens the home, as a process does that begins.
func (w *world) start(t testing.TB) {
	t.Helper()
	var err error
	if w.store, err = store.Open(t.Context(), store.Config{Path: filepath.Join(w.home, "chela.db")}); err != nil {
		t.Fatal(err)
	}
	open := w.store
	t.Cleanup(func() {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	})
	w.blobs = datadir.NewBlobs(filepath.Join(w.home, "blobs"))
	w.docs = memory.New(w.store, memory.Config{
		Now: now, Zone: time.UTC, Count: func(text string) int { return len(text) }, Agent: func(string) error { return nil },
	})
	w.Rewinds = rewind.New(w.store, w.config(t))
}

// config is how a process of its own moves the heads of the home.
func (w *world) config(t testing.TB) rewind.Config {
	return rewind.Config{
		Process: local.Process{Node: w.ids.Node(), IDs: w.ids, Now: time.Now, Emit: func(e chela.Event) { w.told = append(w.told, e) }, Log: slog.New(slog.DiscardHandler), Peers: w},

		Workspace: workspace.At(w.dir), Documents: meddled{w.docs, w}, Bytes: w.blobs.Bytes,
		Tools: []chela.Tool{tool("write_file"), tool("http"), tool("shell")},
		Lanes: w,
		Wait: func(_ context.Context, id chela.TurnID) error {
			w.end(t, id, chela.TurnInterrupted)
			if w.waits != nil {
				w.waits()
			}
			return nil
		},
	}
}

// Undo, Redo and Restore move the head of a thread.
func (w world) Undo(ctx context.Context, thread chela.ThreadID, n int, how api.RewindOptions) (chela.Rewind, error) {
	how.Turns = n
	return w.Rewind(ctx, thread, chela.RewindUndo, how)
}

func (w world) Redo(ctx context.Context, thread chela.ThreadID, how api.RewindOptions) (chela.Rewind, error) {
	return w.Rewind(ctx, thread, chela.RewindRedo, how)
}

func (w world) Restore(ctx context.Context, thread chela.ThreadID, to string, how api.RewindOptions) (chela.Rewind, error) {
	how.To = to
	return w.Rewind(ctx, thread, chela.RewindRestore, how)
}

func (w *world) Stop(_ context.Context, id chela.TurnID) error {
	w.stopped = append(w.stopped, id)
	return nil
}

func (w *world) Wake(context.Context, chela.SessionKey) error {
	w.woken++
	return nil
}

// Dead and Alive know every node.
func (w *world) Dead(n chela.NodeID) bool  { return w.dead[n] }
func (w *world) Alive(n chela.NodeID) bool { return !w.dead[n] }

// stranger moves the heads of the home from another machine, where nothing is
// known of other nodes.
func (w *world) stranger(t testing.TB) *rewind.Rewinds {
	t.Helper()
	cfg := w.config(t)
	cfg.Peers = nil
	return rewind.New(w.store, cfg)
}

// meddled are documents between whose reading and writing somebody else comes.
type meddled struct {
	*memory.Documents
	world *world
}

func (m meddled) Read(ctx context.Context, agent, path string) (chela.Document, error) {
	d, err := m.Documents.Read(ctx, agent, path)
	if m.world.meddle != nil {
		m.world.meddle()
	}
	return d, err
}

// tool is one that only tells what its calls do.
func tool(name string) chela.Tool {
	return chela.Tool{Name: name, Judge: func(args json.RawMessage) chela.Judgement {
		return chela.Judgement{Preview: "ran " + string(args) + "\nand more"}
	}}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func (w *world) write(t testing.TB, fn func(context.Context, *store.Write) error) {
	t.Helper()
	if err := w.store.Write(t.Context(), "test", func(tx *store.Write) error { return fn(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

// An act is a call of a turn: what it does, and how it is stored.
type act struct {
	tool    string
	effect  chela.Effect
	state   chela.CallState
	changes []change
	broken  bool // it was cut off before it wrote
	seen    []chela.Preimage
}

// A change is a file that becomes content, or goes.
type change struct {
	kind    chela.PreimageKind // a file without it
	path    string
	content string
	gone    bool
}

// writes is a turn's call that writes files.
func writes(changes ...change) act {
	return act{tool: "write_file", effect: chela.EffectWrite, state: chela.CallDone, changes: changes}
}

func file(path, content string) change { return change{path: path, content: content} }

// say carries a turn out: a message, calls with their results, an answer.
func (w *world) say(t testing.TB, text string, acts ...act) chela.TurnID {
	t.Helper()
	id := w.begin(t, text, acts...)
	w.end(t, id, chela.TurnCompleted)
	return id
}

// begin is say without an answer: the turn still runs.
func (w *world) begin(t testing.TB, text string, acts ...act) chela.TurnID {
	t.Helper()
	turn := chela.Turn{ID: w.ids.Turn(), Session: w.session, Thread: w.thread, State: chela.TurnProcessing, CreatedAt: now()}
	var calls []chela.ToolCall
	for i, a := range acts {
		c := chela.ToolCall{
			ID: w.ids.Call(), Turn: turn.ID, Thread: w.thread, Session: w.session, Step: i + 1, Tool: a.tool, Args: []byte(`{"n":1}`),
			Effect: a.effect, State: a.state, CreatedAt: now(), StartedAt: now(), FinishedAt: now(),
		}
		for _, ch := range a.changes {
			c.Changes = append(c.Changes, w.change(t, ch, a.broken))
		}
		c.Changes = append(c.Changes, a.seen...)
		calls = append(calls, c)
	}
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		thread, err := tx.Thread(ctx, w.thread)
		if err != nil {
			return err
		}
		turn.Base = thread.Head
		if err := tx.OpenTurn(ctx, turn); err != nil {
			return err
		}
		after := thread
		after.State = chela.ThreadProcessing
		bodies := []chela.Body{chela.UserBody{Text: text}}
		for _, c := range calls {
			if err := tx.AddCall(ctx, c); err != nil {
				return err
			}
			bodies = append(bodies,
				chela.AnswerBody{Model: "m", Calls: []chela.CallSpec{{ID: c.ID, Tool: c.Tool}}}, chela.ResultBody{Call: c.ID, Tool: c.Tool, Status: c.State, Text: "done"})
		}
		if err := w.append(ctx, tx, &after, turn.ID, bodies...); err != nil {
			return err
		}
		return tx.MoveThread(ctx, thread, after)
	})
	return turn.ID
}

// append adds entries with bodies to a thread.
func (w *world) append(ctx context.Context, tx *store.Write, thread *chela.Thread, turn chela.TurnID, bodies ...chela.Body) error {
	for _, body := range bodies {
		e := chela.Entry{
			ID: w.ids.Entry(), Thread: thread.ID, Parent: thread.Head, Turn: turn, Seq: thread.Seq + 1, Body: body, CreatedAt: now(),
		}
		if err := tx.AppendEntry(ctx, e); err != nil {
			return err
		}
		thread.Head, thread.Seq = e.ID, e.Seq
	}
	return nil
}

// end ends a turn with an answer.
func (w *world) end(t testing.TB, id chela.TurnID, ending chela.TurnState) {
	t.Helper()
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		turn, err := tx.Turn(ctx, id)
		if err != nil {
			return err
		}
		thread, err := tx.Thread(ctx, turn.Thread)
		if err != nil {
			return err
		}
		after := thread
		after.State = chela.ThreadIdle
		if ending == chela.TurnInterrupted {
			after.State = chela.ThreadInterrupted
		}
		if err := w.append(ctx, tx, &after, id, chela.AnswerBody{Model: "m", Text: "answer"}); err != nil {
			return err
		}
		if err := tx.MoveThread(ctx, thread, after); err != nil {
			return err
		}
		from := turn.State
		turn.State, turn.FinishedAt = ending, now()
		return tx.MoveTurn(ctx, turn, from)
	})
}

// change makes a change as a tool does, and returns its pre-image.
func (w *world) change(t testing.TB, ch change, broken bool) chela.Preimage {
	t.Helper()
	if ch.kind == chela.PreimageDocument {
		return w.changeDocument(t, ch)
	}
	ws, err := workspace.At(w.dir).Open(t.Context(), workspace.Owner{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	is, err := ws.Find(t.Context(), ch.path)
	if err != nil {
		t.Fatal(err)
	}
	c := workspace.Change{Name: ch.path, Content: []byte(ch.content), Delete: ch.gone}
	p, err := is.Preimage(t.Context(), w.blobs.Keep, c)
	if err == nil && !broken {
		err = ws.Write(t.Context(), "test", c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) changeDocument(t testing.TB, ch change) (p chela.Preimage) {
	t.Helper()
	p = chela.Preimage{Kind: ch.kind, Path: ch.path}
	before, err := w.docs.Read(t.Context(), "main", ch.path)
	if err == nil {
		p.Before, err = w.blobs.Keep(t.Context(), []byte(before.Text))
	} else if chela.KindOf(err) == chela.NotFound {
		err = nil
	}
	if err == nil {
		p.After, err = w.blobs.Keep(t.Context(), []byte(ch.content))
	}
	if err == nil {
		_, err = w.docs.Write(t.Context(), chela.DocumentEdit{
			Kind: chela.EditWrite, Agent: "main", Path: ch.path, Text: ch.content, Key: fmt.Sprint(w.ids.Call()),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// put writes a file as somebody outside does.
func (w *world) put(t testing.TB, path, content string) {
	t.Helper()
	full := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files returns what the workspace holds: contents by path, and folders with "/"
// at their end.
func (w *world) files(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == w.dir {
			return err
		}
		name, _ := filepath.Rel(w.dir, path)
		if d.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			found[name], err = os.Readlink(path)
			return err
		}
		content, err := os.ReadFile(path)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// said returns what people said on the path to the head.
func (w *world) said(t testing.TB) (texts []string) {
	t.Helper()
	err := w.store.Read(t.Context(), func(r *store.Read) error {
		texts = nil
		thread, err := r.Thread(t.Context(), w.thread)
		if err != nil {
			return err
		}
		path, err := r.Path(t.Context(), thread.Head)
		for _, e := range path {
			if e.Kind() == chela.EntryUser {
				texts = append(texts, e.Text())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func (w *world) state(t testing.TB) chela.Thread {
	t.Helper()
	thread, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Thread, error) { return r.Thread(t.Context(), w.thread) })
	if err != nil {
		t.Fatal(err)
	}
	return thread
}

// lanesOf are lanes that fail.
type lanesOf struct {
	*world
	stop, wake error
}

func (l lanesOf) Stop(context.Context, chela.TurnID) error     { return l.stop }
func (l lanesOf) Wake(context.Context, chela.SessionKey) error { return l.wake }
