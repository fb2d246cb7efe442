package background

import (
	"testing"

	"chela"
)

func TestBoard(t *testing.T) {
	t.Parallel()
	var b ActivityBoard
	turn := chela.Turn{ID: "turn_1", State: chela.TurnProcessing}
	for _, c := range []struct {
		event chela.Event
		want  chela.Activity
	}{
		{chela.Event{Kind: chela.EventTurnStarted}, chela.ActivityWaiting},
		{chela.Event{Kind: chela.EventTurnProgress, Activity: chela.ActivityThinking}, chela.ActivityThinking},
		{chela.Event{Kind: chela.EventEntryAppended}, chela.ActivityThinking},
		{chela.Event{Kind: chela.EventTextDelta}, chela.ActivityStreaming},
		{chela.Event{Kind: chela.EventThinkingDelta}, chela.ActivityThinking},
		{chela.Event{Kind: chela.EventTurnProgress, Activity: chela.ActivityTools}, chela.ActivityTools},
		{chela.Event{Kind: chela.EventToolFinished}, chela.ActivityTools},
		{chela.Event{Kind: chela.EventTurnProgress, Activity: chela.ActivityCompacting}, chela.ActivityCompacting},
		{chela.Event{Kind: chela.EventToolStarted}, chela.ActivityTools},
		{chela.Event{Kind: chela.EventApprovalRequested}, chela.ActivityWaiting},
	} {
		c.event.Turn = turn.ID
		b.Hear(c.event)
		if got := b.Of(turn, false); got != c.want {
			t.Errorf("after %s it is %q, want %q", c.event.Kind, got, c.want)
		}
	}
}

// Of a turn that nothing is heard of, the record tells.
func TestTurnsElsewhere(t *testing.T) {
	t.Parallel()
	var b ActivityBoard
	b.Hear(chela.Event{Kind: chela.EventTextDelta, Turn: "turn_2"})
	b.Hear(chela.Event{Kind: chela.EventTextDelta})
	for _, c := range []struct {
		state chela.TurnState
		runs  bool
		want  chela.Activity
	}{
		{chela.TurnProcessing, true, chela.ActivityThinking},
		{chela.TurnProcessing, false, chela.ActivityWaiting},
		{chela.TurnAwaiting, false, chela.ActivityWaiting},
		{chela.TurnCompleted, false, ""},
		{chela.TurnFailed, true, ""},
	} {
		if got := b.Of(chela.Turn{ID: "turn_1", State: c.state}, c.runs); got != c.want {
			t.Errorf("%s, runs %t: %q, want %q", c.state, c.runs, got, c.want)
		}
	}
}
