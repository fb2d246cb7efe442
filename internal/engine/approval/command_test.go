package approval_test

import (
	"context"
	"log/slog"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
	"chela/internal/platform/local"
	"chela/internal/surface/command"
)

// A dying is a process that ends when a command is to be stored, once.
type dying struct {
	*lane.Lanes
	dead bool
}

// Control carries an order out, from the second time on.
func (d *dying) Control(ctx context.Context, in chela.Inbound, do lane.Command) (api.Receipt, error) {
	if !d.dead {
		d.dead = true
		return api.Receipt{}, context.Canceled
	}
	return d.Lanes.Control(ctx, in, do)
}

// TestCommandsAreOneWithWhatTheyDo: of a command that is not stored nothing
// stays, so that it finds the same question and the same turn when it comes
// again.
func TestCommandsAreOneWithWhatTheyDo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chela.TurnState{
		"/approve": chela.TurnCompleted, "/deny because": chela.TurnCompleted, "/stop": chela.TurnInterrupted,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			onBoth(t, markScenario, func(h *house) {
				commands := command.New(h.store, command.Config{Process: local.Process{IDs: h.ids, Now: h.now, Log: slog.New(slog.DiscardHandler)}, Lanes: &dying{Lanes: h.lanes}, Approvals: h.approvals})
				if !h.asked(mainSession, "mark a") {
					h.Fatal("nobody is asked")
				}
				in := chela.Inbound{
					Session: mainSession, Agent: "main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: "command", Text: text,
					Input: chela.InputCommand, Scope: chela.ScopeAdmin, Shown: []chela.ApprovalID{h.pending().ID},
				}
				if _, _, err := commands.Take(h.Context(), in); err == nil {
					h.Error("the process did not die")
				}
				if a := h.pending(); a.State != chela.ApprovalPending {
					h.Errorf("the question is %+v", a)
				}
				if _, _, err := commands.Take(h.Context(), in); err != nil {
					h.Error(err)
				}
				if turn := h.rest(mainSession); turn.State != want {
					h.Errorf("turn: %+v", turn)
				}
				if _, r, err := commands.Take(h.Context(), in); err != nil || !r.Duplicate {
					h.Errorf("the third time: %+v, %v", r, err)
				}
			})
		})
	}
}
