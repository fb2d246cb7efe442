package turn_test

import (
	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
)

// drawRoom draws how much room there is for prompts, and what can be done
// about it.
func (p *play) drawRoom() {
	p.facts.Budget = prompt.Budget{Window: 1 << 30, Room: 1 << 30}
	if !p.chance(2, "little room") {
		return
	}
	p.facts.Budget = prompt.Budget{Window: 1250, Room: 1000, Frame: rapid.IntRange(0, 500).Draw(p.t, "frame"), Keep: 500, Soft: 100}
	p.facts.Compacts, p.facts.Flushes = !p.chance(4, "nothing can be kept"), p.chance(2, "notes")
	p.facts.Limits.Steps = rapid.IntRange(1, 14).Draw(p.t, "longer limit")
}

// size draws the size of an entry, and finishes a compaction.
func (p *play) size(e *chela.Entry) {
	most := 200
	if e.Kind() == chela.EntryCompaction {
		most = p.facts.Budget.SummaryRoom()
	}
	if p.facts.Budget.Room < 1<<30 {
		e.Tokens = rapid.IntRange(0, most).Draw(p.t, "tokens")
	}
	if b, ok := e.Body.(chela.CompactionBody); ok && b.FirstKept == "" {
		b.FirstKept = e.ID
		e.Body = b
	}
}

// mark returns the mark of what is said in a flush.
func (*play) mark(flush bool) chela.Mark {
	if flush {
		return chela.Mark{Hidden: true, Note: chela.NoteFlush}
	}
	return chela.Mark{}
}

func (p *play) compact(plan prompt.Plan) {
	if p.chance(4, "it cannot be kept") {
		p.facts.Tried = plan.Strategy
		return
	}
	c := p.state.Conversation
	p.commit(machine.Change{Entries: []chela.Entry{{
		Body: chela.CompactionBody{
			Text: "summary", Strategy: plan.Strategy, FirstKept: plan.FirstKept(c), Pinned: plan.Pinned, Provenance: c.Provenance,
		},
	}}})
	p.facts.Refused = nil
}
