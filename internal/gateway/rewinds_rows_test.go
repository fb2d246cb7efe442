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

func (h *home) Rewind(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (chela.Rewind, error) {
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

func (h *home) Checkpoint(ctx context.Context, id chela.ThreadID, q api.NewCheckpoint) (chela.Checkpoint, error) {
	t, err := h.Thread(ctx, id)
	return chela.Checkpoint{Session: t.Session, Thread: id, Name: q.Name, Entry: t.Head, Key: q.Key}, err
}

func (h *home) Branch(ctx context.Context, id chela.ThreadID, q api.NewBranch) (chela.Thread, error) {
	t, err := h.Thread(ctx, id)
	t.ID, t.Head = h.ids.Thread(), chela.EntryID(q.From)
	return t, err
}

func (h *home) places(ctx context.Context, id chela.ThreadID) (api.Places, error) {
	back, err := h.Rewind(ctx, id, chela.RewindUndo, api.Rewinding{})
	return api.Places{
		Checkpoints: []chela.Checkpoint{{Thread: id, Name: "mark"}}, Branches: []chela.Branch{{Thread: "thr_2", Origin: id}}, Redo: &back,
	}, err
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
