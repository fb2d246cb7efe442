package client_test

import (
	"context"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

func TestRewinds(t *testing.T) {
	t.Parallel()
	v := chela.Rewind{ID: "rew_1", Kind: chela.RewindUndo, Changes: []chela.Preimage{{Path: "a", Before: "00"}}}
	made := chela.Checkpoint{Thread: "thr/1", Name: "mark", CreatedAt: day.UTC()}
	places := api.Places{Checkpoints: []chela.Checkpoint{made}, Redo: &v}
	checkNouns(t, []nounsCase{
		{
			"undo", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsUndo, api.ThreadMove{ThreadRef: api.ThreadRef{ID: "thr/1"}, To: api.RewindOptions{Turns: 2, Key: "k"}})
			},
			[]any{v},
			[]string{"POST /api/threads/thr%2F1/undo", `{"turns":2,"key":"k"}`},
			v,
		},
		{
			"checkpoint", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsCheckpoint, api.CheckpointRequest{ThreadRef: api.ThreadRef{ID: "thr/1"}, Checkpoint: api.NewCheckpoint{Name: "mark"}})
			},
			[]any{made},
			[]string{"POST /api/threads/thr%2F1/checkpoint", `{"name":"mark"}`},
			made,
		},
		{
			"branch", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsBranch, api.BranchRequest{ThreadRef: api.ThreadRef{ID: "thr/1"}, Branch: api.NewBranch{From: "mark"}})
			},
			[]any{thr},
			[]string{"POST /api/threads/thr%2F1/branch", `{"from":"mark"}`},
			thr,
		},
		{
			"places", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsShow, api.ThreadRef{ID: "thr/1"})
			},
			[]any{api.Thread{Thread: thr, Places: places}},
			[]string{"GET /api/threads/thr%2F1"},
			api.Thread{Thread: thr, Places: places},
		},
	})
}
