package session_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

const mainSession chela.SessionKey = "agent:main:main"

// say appends a turn of one message and its answer to a thread.
func (r *room) say(t *testing.T, id chela.ThreadID, text string) {
	t.Helper()
	r.write(t, func(ctx context.Context, w *store.Write) error {
		thread, err := w.Thread(ctx, id)
		if err != nil {
			return err
		}
		turn := chela.Turn{
			ID: r.ids.Turn(), Session: thread.Session, Thread: id, State: chela.TurnCompleted, Model: "a/b", Base: thread.Head,
			Steps: 1, CreatedAt: noon, FinishedAt: noon,
		}
		if err := w.OpenTurn(ctx, turn); err != nil {
			return err
		}
		after := thread
		for _, body := range []chela.Body{chela.UserBody{Text: text}, chela.AnswerBody{Text: text}} {
			after.Seq++
			e := chela.Entry{ID: r.ids.Entry(), Thread: id, Parent: after.Head, Turn: turn.ID, Seq: after.Seq, Body: body, CreatedAt: noon}
			if err := w.AppendEntry(ctx, e); err != nil {
				return err
			}
			after.Head = e.ID
		}
		return w.MoveThread(ctx, thread, after)
	})
}

// move moves the head of a thread, as an undo does.
func (r *room) move(t *testing.T, id chela.ThreadID, head chela.EntryID) {
	t.Helper()
	r.write(t, func(ctx context.Context, w *store.Write) error {
		thread, err := w.Thread(ctx, id)
		if err != nil {
			return err
		}
		after := thread
		after.Head = head
		return w.MoveThread(ctx, thread, after)
	})
}

// texts is what a thread's conversation comes to.
func (r *room) texts(t *testing.T, id chela.ThreadID) (texts []string) {
	t.Helper()
	err := r.store.Read(t.Context(), func(read *store.Read) error {
		thread, err := read.Thread(t.Context(), id)
		if err != nil {
			return err
		}
		path, err := read.Path(t.Context(), thread.Head)
		for i, e := range path {
			texts = append(texts, e.Text())
			if turn, err := read.Turn(t.Context(), e.Turn); err != nil || i%2 == 0 && turn.Base != e.Parent || turn.Thread != id {
				t.Errorf("entry %+v is of turn %+v: %v", e, turn, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func (r *room) imports(t *testing.T, key chela.SessionKey, file []byte) api.ImportResult {
	t.Helper()
	done, err := r.Import(t.Context(), key, bytes.NewReader(file))
	if err != nil {
		t.Fatalf("import: %v\n%s", err, file)
	}
	return done
}

// TestImportTwice takes a transcript once, and what is new of it later.
func TestImportTwice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *store.Store) {
		from, to := otherRoom(t), newRoom(t, s)
		thread := from.make(t, mainSession, noon)
		from.say(t, thread.ID, "one")
		file := from.written(t, thread.ID, api.Export{})
		first := to.imports(t, "agent:main:dm:al", file)
		want := api.ImportResult{Session: "agent:main:dm:al", Thread: first.Thread, Added: 2}
		if diff := cmp.Diff(want, first); diff != "" || len(to.events) != 1 {
			t.Errorf("%d events; the first time (-want +got):\n%s", len(to.events), diff)
		}
		if got := to.session(t, first.Session); got.Thread != first.Thread || got.Agent != "main" {
			t.Errorf("session %+v", got)
		}
		fresh, err := to.Begin(t.Context(), first.Session, "")
		if err != nil {
			t.Fatal(err)
		}
		want.Added, want.Known = 0, 2
		if diff := cmp.Diff(want, to.imports(t, first.Session, file)); diff != "" || to.session(t, first.Session).Thread != fresh.ID {
			t.Errorf("the second time (-want +got):\n%s", diff)
		}
		from.say(t, thread.ID, "two")
		want.Added = 2
		if diff := cmp.Diff(want, to.imports(t, first.Session, from.written(t, thread.ID, api.Export{}))); diff != "" {
			t.Errorf("when it has grown (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"one", "one", "two", "two"}, to.texts(t, first.Thread)); diff != "" {
			t.Errorf("conversation (-want +got):\n%s", diff)
		}
		to.say(t, first.Thread, "here")
		if diff := cmp.Diff([]string{"one", "one", "two", "two", "here", "here"}, to.texts(t, first.Thread)); diff != "" {
			t.Errorf("it goes on (-want +got):\n%s", diff)
		}
	})
}

// TestImportEndsElevatedRights: they were given for the conversation before.
func TestImportEndsElevatedRights(t *testing.T) {
	t.Parallel()
	from, to := otherRoom(t), otherRoom(t)
	thread := from.make(t, mainSession, noon)
	from.say(t, thread.ID, "one")
	to.make(t, mainSession, noon)
	to.write(t, func(ctx context.Context, w *store.Write) error {
		s, err := w.Session(ctx, mainSession)
		if err != nil {
			return err
		}
		s.Settings.Elevated = "full"
		return w.SaveSession(ctx, s)
	})
	to.imports(t, mainSession, from.written(t, thread.ID, api.Export{}))
	if got := to.session(t, mainSession).Settings.Elevated; got != "" {
		t.Errorf("the imported thread has rights %q", got)
	}
}

// TestImportWithBranches takes what was undone along.
func TestImportWithBranches(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *store.Store) {
		from, to := newRoom(t, s), otherRoom(t)
		thread := from.make(t, mainSession, noon)
		for _, text := range []string{"one", "left", "two"} {
			before := chela.EntryID("")
			if text == "two" {
				path := from.written(t, thread.ID, api.Export{})
				before = secondEntry(t, path)
				from.move(t, thread.ID, before)
			}
			from.say(t, thread.ID, text)
		}
		done := to.imports(t, mainSession, from.written(t, thread.ID, api.Export{All: true}))
		if diff := cmp.Diff([]string{"one", "one", "two", "two"}, to.texts(t, done.Thread)); diff != "" || done.Added != 6 {
			t.Errorf("%d added; conversation (-want +got):\n%s", done.Added, diff)
		}
		path := to.imports(t, mainSession, from.written(t, thread.ID, api.Export{}))
		if path.Known != 4 || path.Added != 0 {
			t.Errorf("the path alone: %+v", path)
		}
	})
}

// secondEntry returns the id in the third line of a file.
func secondEntry(t *testing.T, file []byte) chela.EntryID {
	t.Helper()
	line := strings.Split(string(file), "\n")[2]
	_, id, _ := strings.Cut(line, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return chela.EntryID(id)
}

// TestImportRefuses shows that nothing is taken of what cannot be.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *store.Store) {
		from, to := otherRoom(t), newRoom(t, s)
		thread := from.make(t, mainSession, noon)
		from.say(t, thread.ID, "one")
		file := from.written(t, thread.ID, api.Export{})
		from.say(t, thread.ID, "two")
		grown := from.written(t, thread.ID, api.Export{})
		done := to.imports(t, mainSession, file)
		runs := to.imports(t, "agent:main:dm:runs", rename(file, "x"))
		to.write(t, func(ctx context.Context, w *store.Write) error {
			before, err := w.Thread(ctx, runs.Thread)
			after := before
			after.State = chela.ThreadProcessing
			if err != nil {
				return err
			}
			return w.MoveThread(ctx, before, after)
		})
		picture := `{"type":"session","id":"p"}` + "\n" + `{"type":"message","id":"a","role":"user","content":[{"type":"image","mimeType":"image/png","chela":{"sha256":"` + strings.Repeat("0", 64) + `","size":1}}]}`
		for name, c := range map[string]struct {
			key  chela.SessionKey
			file string
			kind chela.Kind
			says string
		}{
			"no key":              {"main", string(file), chela.Invalid, "unknown session key"},
			"no agent":            {"agent:nobody:main", string(file), chela.NotFound, "no agent nobody"},
			"another session":     {"agent:main:dm:al", string(file), chela.Conflict, "already in session agent:main:main"},
			"another text":        {mainSession, strings.Replace(string(file), `"one"`, `"eno"`, 1), chela.Conflict, "differs"},
			"a turn runs":         {"agent:main:dm:runs", string(rename(grown, "x")), chela.Conflict, "a turn runs"},
			"not well-formed":     {mainSession, "{}", chela.Invalid, "line 1"},
			"attachment not here": {mainSession, strings.Replace(picture, `"id":"p"`, `"id":"thr_p","chela":{"entries":1}`, 1), chela.NotFound, "line 2: the content of attachment"},
		} {
			_, err := to.Import(t.Context(), c.key, strings.NewReader(c.file))
			if chela.KindOf(err) != c.kind || !strings.Contains(chela.MessageOf(err), c.says) {
				t.Errorf("%s: error %v, want %s that says %q", name, err, c.kind, c.says)
			}
		}
		for _, key := range []chela.SessionKey{"agent:main:dm:al", "agent:nobody:main"} {
			_, err := store.Find(t.Context(), to.store, func(r *store.Read) (chela.Session, error) { return r.Session(t.Context(), key) })
			if chela.KindOf(err) != chela.NotFound {
				t.Errorf("session %s was made: %v", key, err)
			}
		}
		to.say(t, done.Thread, "another way")
		_, err := to.Import(t.Context(), mainSession, bytes.NewReader(grown))
		if chela.KindOf(err) != chela.Conflict || !strings.Contains(err.Error(), "has diverged") {
			t.Errorf("a thread that went on: %v", err)
		}
		if diff := cmp.Diff([]string{"one", "one", "another way", "another way"}, to.texts(t, done.Thread)); diff != "" {
			t.Errorf("conversation (-want +got):\n%s", diff)
		}
	})
}

// rename gives the entries and turns of a file other ids.
func rename(file []byte, by string) []byte {
	text := strings.ReplaceAll(string(file), `"ent_`, `"ent_`+by)
	return []byte(strings.ReplaceAll(text, `"turn_`, `"turn_`+by))
}
