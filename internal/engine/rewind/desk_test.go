package rewind_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// entries returns what a turn said.
func (w *world) entries(t *testing.T, id chela.TurnID) []chela.Entry {
	t.Helper()
	entries, err := store.Find(t.Context(), w.store, func(r *store.Read) ([]chela.Entry, error) { return r.TurnEntries(t.Context(), id) })
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestModeOfARemovedFile: redo makes a file anew with the mode that it had when undo
// removed it.
func TestModeOfARemovedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("run.sh", "#!/bin/sh\n")))
	script := filepath.Join(w.dir, "run.sh")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	w.undo(t, 1)
	want(t, "files", map[string]string{}, w.files(t))
	w.redo(t)
	info, err := os.Stat(script)
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestFileThatIsGoneAlready: nothing is to be done for it.
func TestFileThatIsGoneAlready(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1"), file("b", "1")))
	remove(t, w, "a")
	v := w.undo(t, 1)
	if len(v.Changes) != 1 || v.Changes[0].Path != "b" {
		t.Errorf("changes %+v", v.Changes)
	}
}

// TestDocumentThatWasMade is deleted, beside no file.
func TestDocumentThatWasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(change{kind: chela.PreimageDocument, path: "notes/new.md", content: "1"}))
	w.undo(t, 1)
	if d, err := w.docs.Read(t.Context(), "main", "notes/new.md"); chela.KindOf(err) != chela.NotFound {
		t.Errorf("it says %q, %v", d.Text, err)
	}
	w.redo(t)
	if d, err := w.docs.Read(t.Context(), "main", "notes/new.md"); err != nil || d.Text != "1" {
		t.Errorf("it says %q, %v", d.Text, err)
	}
}

// TestDocumentThatWasPutBackAlready: a process that died after it restored a document
// leaves nothing to do.
func TestDocumentThatWasPutBackAlready(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	v := w.left(t, chela.RewindPlanned, "k")
	_, err := w.docs.Write(t.Context(), chela.DocumentEdit{Kind: chela.EditWrite, Agent: "main", Path: doc.path, Text: "1", Key: "put back"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	if got := w.rewind(t, v.ID); got.State != chela.RewindDone || len(got.NotUndone) != 0 || len(got.Changes) != 1 {
		t.Errorf("the rewind is %+v", got)
	}
}

func (w *world) rewind(t *testing.T, id chela.RewindID) chela.Rewind {
	t.Helper()
	v, err := store.Find(t.Context(), w.store, func(r *store.Read) (chela.Rewind, error) { return r.Rewind(t.Context(), id) })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestChangesThatWereMade: a file that others changed in between is no change of the
// rewind, so that redo leaves it alone.
func TestChangesThatWereMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.say(t, "2", writes(file("a", "2"), file("b", "2")))
	v := w.left(t, chela.RewindPlanned, "k")
	w.put(t, "b", "mine")
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	if got := w.rewind(t, v.ID); len(got.Changes) != 1 || got.Changes[0].Path != "a" {
		t.Errorf("changes %+v", got.Changes)
	}
}

// TestRefusedRewindWakesItsSession: what waited for it goes on.
func TestRefusedRewindWakesItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.left(t, chela.RewindAsked, "k")
	w.put(t, "a", "mine")
	if err := w.Finish(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	want(t, "woken", 1, w.woken)
}

// TestFinishBesideARewind: a process that completes what others left does not touch what
// it carries out itself.
func TestFinishBesideARewind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	err := w.slowly(t, func(v chela.Rewind) {
		if err := w.Finish(t.Context(), ""); err != nil {
			t.Error(err)
		}
		want(t, "rewinds", []chela.Rewind{v}, w.open(t))
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "conversation", []string{"1"}, w.said(t))
}

// TestTurnWhileFilesAreCompared: a turn that began in between is the last one, and is
// what is undone.
func TestTurnWhileFilesAreCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	w.meddle = sync.OnceFunc(func() { w.say(t, "3") })
	v := w.undo(t, 1)
	want(t, "conversation", []string{"1", "2"}, w.said(t))
	want(t, "changes", 0, len(v.Changes))
}

// TestRewindOfAnotherThread: threads of one session move independently.
func TestRewindOfAnotherThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1")
	w.say(t, "2")
	origin := w.thread
	w.branch(t, "")
	w.say(t, "3")
	other := w.thread
	w.thread = origin
	w.left(t, chela.RewindPlanned, "k")
	w.dead = map[chela.NodeID]bool{}
	places, err := w.Places(t.Context(), origin)
	if err != nil || places.Redo != nil {
		t.Errorf("while it is rewound: %+v, %v", places, err)
	}
	w.thread = other
	w.undo(t, 1)
	want(t, "conversation", []string{"1", "2"}, w.said(t))
}

// TestNoRedoWhileAThreadMoves: what would be reverted is known when it has arrived.
func TestNoRedoWhileAThreadMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1")
	w.say(t, "2")
	w.undo(t, 1)
	w.left(t, chela.RewindPlanned, "k")
	places, err := w.Places(t.Context(), w.thread)
	if err != nil || places.Redo != nil {
		t.Errorf("%+v, %v", places, err)
	}
}

// TestRestoreToTheEndOfATurn: a turn is named for its last entry; one that said nothing
// has none.
func TestRestoreToTheEndOfATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.say(t, "1", writes(file("a", "1")))
	end := w.state(t).Head
	w.say(t, "2")
	w.restore(t, string(first))
	want(t, "head", end, w.state(t).Head)

	single := chela.Turn{ID: w.ids.Turn(), Session: w.session, Thread: w.thread, State: chela.TurnCompleted, Base: end, CreatedAt: now(), FinishedAt: now()}
	w.write(t, func(ctx context.Context, tx *store.Write) error { return tx.OpenTurn(ctx, single) })
	_, err := w.Restore(t.Context(), w.thread, string(single.ID), api.RewindOptions{})
	want(t, "a turn without entries", chela.NotFound, chela.KindOf(err))
	w.write(t, func(ctx context.Context, tx *store.Write) error {
		thread, err := tx.Thread(ctx, w.thread)
		if err != nil {
			return err
		}
		after := thread
		if err := w.append(ctx, tx, &after, single.ID, chela.UserBody{Text: "3"}); err != nil {
			return err
		}
		return tx.MoveThread(ctx, thread, after)
	})
	only := w.state(t).Head
	w.say(t, "4")
	w.restore(t, string(single.ID))
	want(t, "head", only, w.state(t).Head)
	made, err := w.Branch(t.Context(), w.thread, api.NewBranch{From: string(single.ID)})
	if err != nil || made.Head != only {
		t.Errorf("branch %+v, %v", made, err)
	}
}

// TestWrittenAfterItsUndo: what a file says now is what the newest write left.
func TestWrittenAfterItsUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(t, "1", writes(file("a", "1")))
	w.say(t, "2", writes(file("a", "2")))
	merged := writes(file("a", "1 and mine"))
	merged.tool = "file_undo"
	w.say(t, "3", merged)
	got, err := w.Written(t.Context(), w.thread, "a")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := w.blobs.Keep(t.Context(), []byte("1 and mine"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "now", sum, got.Now)
	want(t, "before", "", got.Preimage.Before)
}

// TestUntrustedTextStaysMarked: what undo brings back may be what an untrusted source
// wrote, so the document stays marked.
func TestUntrustedTextStaysMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := change{kind: chela.PreimageDocument, path: "MEMORY.md"}
	for _, doc.content = range []string{"1", "2"} {
		w.say(t, doc.content, writes(doc))
	}
	web := chela.Provenance{Integrity: chela.IntegrityOutside, Source: "a page"}
	_, err := w.docs.Write(t.Context(), chela.DocumentEdit{
		Kind: chela.EditWrite, Agent: "main", Path: doc.path, Text: "2", Key: "marked", Provenance: web,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.undo(t, 1)
	is, err := w.docs.Read(t.Context(), "main", doc.path)
	if err != nil || is.Text != "1" || is.Provenance != web {
		t.Errorf("it says %q of %+v, %v", is.Text, is.Provenance, err)
	}
}
