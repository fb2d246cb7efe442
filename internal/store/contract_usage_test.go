package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

func TestUsageOfATurn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		rows := []chela.Usage{
			{ID: "use_1", Model: "a/x", CreatedAt: noon, Tokens: chela.TokenUsage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1}},
			{ID: "use_2", Model: "a/x", CreatedAt: noon.Add(time.Hour), Tokens: chela.TokenUsage{Input: 10, Output: 20}},
			{ID: "use_3", Model: "b/y", CreatedAt: noon.Add(2 * time.Hour), Tokens: chela.TokenUsage{Input: 5_000_000_000}},
			{ID: "use_4", Model: "a/x", CreatedAt: noon.Add(24 * time.Hour), Tokens: chela.TokenUsage{Output: 7}},
		}
		err := write(t, s, func(ctx context.Context, w *store.Write) error {
			if err := fillTurn(ctx, w); err != nil {
				return err
			}
			for i := range rows {
				rows[i].Payer = chela.Payer{Session: "agent:main:main", Turn: "turn_a", Step: 1, Purpose: "turn"}
				rows[i].State = chela.UsageSettled
				if err := w.Charge(ctx, rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, s, func(ctx context.Context, r *store.Read) ([]chela.Usage, error) {
			return r.TurnUsage(ctx, chela.Turn{ID: "turn_a", Session: "agent:main:main", CreatedAt: noon})
		})
		if diff := cmp.Diff(rows, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestAnswerOfATurn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		s := open(t, d.place(t))
		turn := chela.Turn{ID: "turn_a", Thread: "thr_a"}
		answer := func() chela.Entry {
			e, _ := read(t, s, func(ctx context.Context, r *store.Read) (chela.Entry, error) {
				e, _, err := r.Answer(ctx, turn)
				return e, err
			})
			return e
		}
		err := write(t, s, func(ctx context.Context, w *store.Write) error {
			if err := fillTurn(ctx, w); err != nil {
				return err
			}
			bodies := []chela.Body{chela.UserBody{}, chela.AnswerBody{}, chela.ResultBody{}, chela.AnswerBody{}, chela.NoteBody{}}
			for i, body := range bodies {
				e := chela.Entry{ID: chela.EntryID(fmt.Sprint("ent_", i)), Thread: "thr_a", Turn: "turn_a", Seq: int64(i + 1), Body: body, CreatedAt: noon}
				if err := w.AppendEntry(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := answer(); got.ID != "ent_3" {
			t.Errorf("the answer is %q, want ent_3", got.ID)
		}
		turn.Base = "ent_3"
		if got := answer(); got.ID != "" {
			t.Errorf("the answer of a turn that opened later is %q", got.ID)
		}
	})
}

// fillTurn adds a turn, and what it belongs to.
func fillTurn(ctx context.Context, w *store.Write) error {
	key := chela.MainKey("main")
	if err := w.CreateSession(ctx, chela.Session{Key: key, Agent: "main", Thread: "thr_a", CreatedAt: noon, UpdatedAt: noon}, chela.ClassMain); err != nil {
		return err
	}
	if err := w.CreateThread(ctx, chela.Thread{ID: "thr_a", Session: key, State: chela.ThreadIdle, CreatedAt: noon, UpdatedAt: noon}); err != nil {
		return err
	}
	return w.OpenTurn(ctx, chela.Turn{ID: "turn_a", Session: key, Thread: "thr_a", State: chela.TurnProcessing, Model: "a/x", CreatedAt: noon})
}
