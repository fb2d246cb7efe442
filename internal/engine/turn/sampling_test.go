package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// shapes returns how each request was to be answered.
func (m *model) shapes() (all []chela.Overrides) {
	for _, req := range m.requests {
		all = append(all, chela.Overrides{Sampling: req.Sampling, Answer: req.MaxTokens})
	}
	return all
}

// TestSamplingAppliesToTheTurn asks with the sampling of the turn in each step, also
// after a restart, until results come with another one.
func TestSamplingAppliesToTheTurn(t *testing.T) {
	t.Parallel()
	first := chela.Overrides{Answer: 50, Sampling: &chela.Sampling{Stop: []string{"END"}}}
	second := chela.Overrides{Sampling: &chela.Sampling{Format: &chela.Format{}}}
	r := newRig(t, say("", "look a"), say("", "theirs b"), say("", "theirs c"), say("{}"))
	r.offer("theirs")
	r.book.turn.Overrides = first
	r.mustRun(chela.TurnAwaiting)
	r.bring("", r.handedOut()...) // without overrides
	r.mustRun(chela.TurnAwaiting)
	m := chela.InboxMessage{ID: "in_2", Inbound: chela.Inbound{
		Results: []chela.OfferResult{result(r.handedOut()[0])}, Offers: []chela.ToolSpec{spec("theirs")}, Overrides: second,
	}}
	r.bringMessage(m)
	r.mustRun(chela.TurnCompleted)
	if diff := cmp.Diff([]chela.Overrides{first, first, first, second}, r.model.shapes()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestSamplingDoesNotApplyToNotes asks for notes before a compaction without the
// sampling of the turn, as the sender does not read them.
func TestSamplingDoesNotApplyToNotes(t *testing.T) {
	t.Parallel()
	sampling := &chela.Sampling{Format: &chela.Format{}}
	r := flushRig(t, 77, say("", "memory_write a"), say("NO_REPLY"), say("{}"))
	r.book.turn.Overrides.Sampling = sampling
	r.mustRun(chela.TurnCompleted)
	want := []chela.Overrides{{}, {}, {Sampling: sampling}}
	if diff := cmp.Diff(want, r.model.shapes()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
