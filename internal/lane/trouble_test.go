package lane_test

import (
	"context"
	"testing"
	"time"

	"chela"
	"chela/internal/lane"
	"chela/internal/store"
	"chela/internal/turn"
)

// A turn that breaks every run by a fault of chela comes to an end, whether the
// run returns an error or panics.
func TestPoisonTurnEnds(t *testing.T) {
	t.Parallel()
	poisons := map[string]func() (turn.Ruling, error){
		"error": func() (turn.Ruling, error) { return turn.Ruling{}, chela.E(chela.Internal, "a row is missing") },
		"panic": func() (turn.Ruling, error) { panic("a nil map") },
	}
	for name, poison := range poisons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, engines["sqlite"](t), askScenario, func(c *lane.Config) {
				agent := c.Agent
				c.Agent = func(ctx context.Context, s chela.Session, t chela.Turn) (turn.Agent, error) {
					a, err := agent(ctx, s, t)
					a.Policy = func(context.Context, chela.Turn, chela.ToolCall, chela.Judgement) (turn.Ruling, error) {
						return poison()
					}
					return a, err
				}
			})
			h.say(message(mainSession, "m1", "go"))
			got := h.rest(mainSession)[0]
			if got.State != chela.TurnFailed || got.Failure == nil || got.Failure.Kind != chela.Internal {
				t.Errorf("turn %+v, failure %+v", got, got.Failure)
			}
		})
	}
}

// A lane that this process took without being told of it, as when the word of a
// commit was lost, is served once its lease has expired.
func TestLaneOfNobodyIsTakenAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg store.Config) {
		var node chela.NodeID
		h := open(t, cfg, echoScenario, func(c *lane.Config) { node = c.Node })
		h.say(message(mainSession, "m1", "one"))
		h.rest(mainSession)
		err := h.store.Write(t.Context(), "test", func(w *store.Write) error {
			l, err := w.LockLane(t.Context(), mainSession)
			if err != nil {
				return err
			}
			lease := chela.Lease{Session: mainSession, Owner: node, Token: l.Token + 1, ExpiresAt: time.Now().Add(-time.Second)}
			return w.TakeLane(t.Context(), l, lease, l.Turn)
		})
		if err != nil {
			t.Fatal(err)
		}
		h.say(message(mainSession, "m2", "two"))
		if turns := h.rest(mainSession); len(turns) != 2 || turns[1].State != chela.TurnCompleted {
			t.Errorf("turns: %+v", turns)
		}
	})
}
