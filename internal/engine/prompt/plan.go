package prompt

import (
	"slices"

	"chela"
)

// Thresholds of the strategies, in percent of the room.
const (
	archiveAbove   = 80
	summarizeAbove = 85
	truncateAbove  = 95
)

// summaryRoom is the maximum size of a summary, in tokens; a tenth of the room
// is the limit if that is less.
const summaryRoom = 2_000

// SummaryRoom returns the maximum size of a summary, in tokens.
func (b Budget) SummaryRoom() int { return min(summaryRoom, b.Room/10) }

type strategy struct {
	name  chela.Strategy
	above int // percent of the room
	keep  int // turns
}

// strategies are the ways a compaction makes room, mildest first.
var strategies = [...]strategy{
	{chela.StrategyArchive, archiveAbove, 10},
	{chela.StrategySummarize, summarizeAbove, 5},
	{chela.StrategyTruncate, truncateAbove, 3},
}

// A Plan selects the messages removed from a prompt.
type Plan struct {
	Strategy chela.Strategy
	Kept     int             // index of the first kept message; the number of messages if none is kept
	Pinned   []chela.EntryID // user messages kept from a turn that is cut in the middle
}

// FirstKept returns the entry of the first kept message, or "" if none is kept.
func (p Plan) FirstKept(c Conversation) chela.EntryID {
	if p.Kept == len(c.Parts) {
		return ""
	}
	return c.Parts[p.Kept].Entry
}

// Stronger returns the stronger of two strategies; the empty one is the
// weakest.
func Stronger(a, b chela.Strategy) chela.Strategy {
	if rank(a) > rank(b) {
		return a
	}
	return b
}

// rank returns the index of a strategy, -1 for none.
func rank(s chela.Strategy) int {
	return slices.IndexFunc(strategies[:], func(known strategy) bool { return known.name == s })
}

// Plan returns the compaction required before the next model request, and
// whether one is. Only strategies stronger than tried are considered. Refused
// says that the provider reported an overflow, regardless of the estimate.
// There is no plan if the user's messages of the newest turn alone exceed the
// room.
func (c Conversation) Plan(b Budget, tried chela.Strategy, refused bool) (Plan, bool) {
	mildest := -1
	for i, s := range strategies {
		if b.over(c, s.above) {
			mildest = i
		}
	}
	if mildest < 0 && !refused || !refused && c.Corrected(b.Frame+c.stays()) > b.Room {
		return Plan{}, false
	}
	least := 1 // minimum of tokens to remove
	if !refused && b.Fits(c) {
		least = b.Room / 20 // less is not worth losing the cached prefix
	}
	for _, s := range strategies[max(mildest, rank(tried)+1, 0):] {
		p := c.cut(b, s.keep)
		p.Strategy = s.name
		if c.Corrected(c.leaving(p)) >= least {
			return p, true
		}
	}
	return Plan{}, false
}

// stays returns the estimated size of the user's messages in the newest turn,
// which no plan removes.
func (c Conversation) stays() (n int) {
	for _, p := range slices.Backward(c.Parts) {
		if p.Turn != c.Parts[len(c.Parts)-1].Turn {
			break
		}
		if p.Kind == chela.EntryUser {
			n += p.Tokens
		}
	}
	return n
}

// PlanSummary returns the compaction for an explicit request, and whether
// anything can be removed. It removes at least half of the turns.
func (c Conversation) PlanSummary(b Budget) (Plan, bool) {
	const most = 5
	turns := c.turns()
	keep := min(most, len(turns)/2)
	p := Plan{Kept: len(c.Parts)}
	if keep > 0 {
		p = c.cut(b, keep)
	}
	p.Strategy = chela.StrategySummarize
	return p, c.leaving(p) > 0
}

// turns returns the indices at which removable turns begin. An imported history
// counts as turns as well: a user message after an answer without calls begins
// one.
func (c Conversation) turns() []int {
	var starts []int
	for i := c.fixed(); i < len(c.Parts); i++ {
		p := c.Parts[i]
		if len(starts) == 0 || p.Turn != c.Parts[i-1].Turn || p.Kind == chela.EntryUser && c.answered(i-1) {
			starts = append(starts, i)
		}
	}
	return starts
}

// answered reports whether a message is an answer without calls.
func (c Conversation) answered(i int) bool {
	return c.Parts[i].Kind == chela.EntryAssistant && !c.Parts[i].Flush && len(c.Messages[i].Calls) == 0
}

// cut returns the plan that keeps the given number of turns, or fewer if they
// are large, but at least one.
func (c Conversation) cut(b Budget, keep int) Plan {
	turns := c.turns()
	if len(turns) == 0 {
		return Plan{Kept: len(c.Parts)}
	}
	// A compaction should end below the first threshold.
	below := b.Room*archiveAbove/100 - c.Corrected(b.Frame) - b.SummaryRoom()
	last := len(turns) - 1
	n := max(0, len(turns)-keep)
	for n < last && c.Corrected(c.from(turns[n])) > min(b.Keep, below) {
		n++
	}
	if n == last && c.Corrected(c.from(turns[last])) > below {
		return c.cutTurn(turns[last], min(b.Keep, below))
	}
	p := Plan{Kept: turns[n]}
	if n == 0 {
		p.Pinned = c.pinned()
	}
	return p
}

// cutTurn returns the plan that keeps the end of the turn that begins at start:
// as many steps as fit into most tokens, but at least one.
func (c Conversation) cutTurn(start, most int) Plan {
	kept := start
	for i := len(c.Parts) - 1; i > start; i-- {
		if c.Parts[i].Kind != chela.EntryAssistant || c.Parts[i].Flush {
			continue
		}
		if kept > start && c.Corrected(c.from(i)) > most {
			break
		}
		kept = i
	}
	p := Plan{Kept: kept}
	if start == c.fixed() {
		p.Pinned = c.pinned()
	}
	for _, part := range c.Parts[start:kept] {
		if part.Kind == chela.EntryUser {
			p.Pinned = append(p.Pinned, part.Entry)
		}
	}
	return p
}

// pinned returns the already pinned entries.
func (c Conversation) pinned() []chela.EntryID {
	var ids []chela.EntryID
	for _, p := range c.Parts[:c.fixed()] {
		if p.Pinned {
			ids = append(ids, p.Entry)
		}
	}
	return ids
}

// from returns the estimated size of the messages from i on.
func (c Conversation) from(i int) int {
	n := 0
	for _, p := range c.Parts[i:] {
		n += p.Tokens
	}
	return n
}

// leaving returns the estimated size of the messages that a plan removes.
func (c Conversation) leaving(p Plan) int {
	n := 0
	for i, part := range c.Parts {
		leaves := i < p.Kept && part.Kind != chela.EntryCompaction || part.Flush
		if leaves && !slices.Contains(p.Pinned, part.Entry) {
			n += part.Tokens
		}
	}
	return n
}
