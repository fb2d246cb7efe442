package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
)

// The home of the tests moves heads without any files; a thread that is to go
// to "lost" has files that changed.

func (h *home) trees() []api.Bound {
	move := func(kind chela.RewindKind) func(context.Context, api.Caller, api.ThreadMove) (chela.Rewind, error) {
		return func(ctx context.Context, c api.Caller, q api.ThreadMove) (chela.Rewind, error) {
			q.To.Key = c.KeyOf(q.To.Key)
			return h.rewind(ctx, q.ID, kind, q.To)
		}
	}
	return []api.Bound{
		api.ThreadsShow.Do(h.shown), api.ThreadsUndo.Do(move(chela.RewindUndo)), api.ThreadsRedo.Do(move(chela.RewindRedo)),
		api.ThreadsRestore.Do(move(chela.RewindRestore)),
		api.ThreadsCheckpoint.Do(func(ctx context.Context, c api.Caller, q api.CheckpointRequest) (chela.Checkpoint, error) {
			t, err := h.Thread(ctx, q.ID)
			return chela.Checkpoint{Session: t.Session, Thread: q.ID, Name: q.Checkpoint.Name, Entry: t.Head, Key: c.KeyOf(q.Checkpoint.Key)}, err
		}),
		api.ThreadsBranch.Do(func(ctx context.Context, _ api.Caller, q api.BranchRequest) (chela.Thread, error) {
			t, err := h.Thread(ctx, q.ID)
			t.ID, t.Head = h.ids.Thread(), chela.EntryID(q.Branch.From)
			return t, err
		}),
	}
}

func (h *home) rewind(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.RewindOptions) (chela.Rewind, error) {
	t, err := h.Thread(ctx, id)
	if err == nil && q.To == "lost" {
		err = chela.E(chela.Conflict, "a.txt changed since").WithDetail("-old\n+new\n")
	}
	return chela.Rewind{
		ID: h.ids.Rewind(), Session: t.Session, Thread: id, Kind: kind, State: chela.RewindDone, From: t.Head, To: chela.EntryID(q.To), Key: q.Key,
		KeepFiles: q.KeepFiles, Changes: []chela.Preimage{{Kind: chela.PreimageFile, Path: "a.txt"}},
		NotUndone: []chela.NotUndone{{Tool: "shell", Effect: chela.EffectExecute, Text: "make"}}, Node: "node_1",
	}, err
}

func (h *home) shown(ctx context.Context, _ api.Caller, q api.ThreadRef) (api.Thread, error) {
	t, err := h.Thread(ctx, q.ID)
	if err != nil {
		return api.Thread{}, err
	}
	back, err := h.rewind(ctx, q.ID, chela.RewindUndo, api.RewindOptions{})
	return api.Thread{Thread: t, Places: api.Places{
		Checkpoints: []chela.Checkpoint{{Session: "agent:main:main", Thread: q.ID, Name: "mark"}},
		Branches:    []chela.Branch{{Session: "agent:main:main", Thread: "thr_2", Origin: q.ID}}, Redo: &back,
	}}, err
}

// TestRefusedRewindShowsTheDifference: what is in the detail of an error reaches
// the client.
func TestRefusedRewindShowsTheDifference(t *testing.T) {
	t.Parallel()
	d := run(t)
	said := d.say(t, "hi")
	a := d.do(t, call{method: "POST", path: "/api/threads/" + string(said.Thread) + "/restore", secret: chatSecret, body: `{"to":"lost"}`})
	if a.status != 409 || !strings.Contains(a.body, `"detail":"-old\n+new\n"`) {
		t.Errorf("status %d: %s", a.status, a.body)
	}
}

// TestKeysOfTwoTokens: the same key of two tokens names two requests.
func TestKeysOfTwoTokens(t *testing.T) {
	t.Parallel()
	d := run(t)
	said := d.say(t, "hi")
	keys := map[string]bool{}
	for _, secret := range []string{chatSecret, adminSecret} {
		a := d.do(t, call{method: "POST", path: "/api/threads/" + string(said.Thread) + "/undo", secret: secret, body: `{"key":"k"}`})
		var r chela.Rewind
		if err := json.Unmarshal([]byte(a.body), &r); err != nil {
			t.Fatal(err)
		}
		keys[r.Key] = true
	}
	if len(keys) != 2 {
		t.Errorf("keys %v", keys)
	}
}
