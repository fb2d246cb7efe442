package prompt

import (
	"slices"

	"chela"
)

// The hundredths of the room above which each strategy is chosen.
const (
	archiveAbove   = 80
	summarizeAbove = 85
	truncateAbove  = 95
)

// summaryRoom is what a summary may take, in tokens, as far as it is not more
// than a tenth of the room.
const summaryRoom = 2_000

// SummaryRoom returns what a summary may take, in tokens.
func (b Budget) SummaryRoom() int { return min(summaryRoom, b.Room/10) }

// strategies are how compactions make room, mildest first.
var strategies = []struct {
	name  chela.Strategy
	above int // hundredths of the room
	keep  int // turns
}{
	{chela.StrategyArchive, archiveAbove, 10},
	{chela.StrategySummarize, summarizeAbove, 5},
	{chela.StrategyTruncate, truncateAbove, 3},
}

// A Plan says what leaves a prompt.
type Plan struct {
	Strategy chela.Strategy
	Kept     int             // the first message that stays; as many as there are for none
	Pinned   []chela.EntryID // what the user said in the turn that the cut goes through
}

// FirstKept returns the entry from which on everything stays, or "" if nothing
// does.
func (p Plan) FirstKept(c Conversation) chela.EntryID {
	if p.Kept == len(c.Parts) {
		return ""
	}
	return c.Parts[p.Kept].Entry
}

// Stronger returns the stronger one of two strategies; the empty one is weaker
// than all.
func Stronger(a, b chela.Strategy) chela.Strategy {
	if rank(a) > rank(b) {
		return a
	}
	return b
}

// rank is the place of a strategy, -1 for none.
func rank(s chela.Strategy) int {
	for i, known := range strategies {
		if known.name == s {
			return i
		}
	}
	return -1
}

// Plan returns what should leave before the model is asked, and whether
// anything should. Only strategies stronger than tried are looked at. Refused
// says that the provider found the prompt too large, whatever was counted here.
// Nothing leaves where what was said last is too large by itself.
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
	least := 1 // tokens that must leave
	if !refused && b.Fits(c) {
		least = b.Room / 20 // else it is not worth the cached prefix
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

// stays returns what the user said in the newest turn takes, as counted here: no
// plan takes it away.
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

// PlanSummary returns what leaves when somebody asks for a summary, and whether
// there is anything that can: half of the turns at least.
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

// turns returns where each turn begins that can leave. What was said elsewhere
// before counts as turns too: after an answer without calls the user begins
// another one.
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

// cut returns the plan that keeps so many turns, or fewer where these are
// large, but one at least.
func (c Conversation) cut(b Budget, keep int) Plan {
	turns := c.turns()
	if len(turns) == 0 {
		return Plan{Kept: len(c.Parts)}
	}
	// A prompt that was compacted should be below the first threshold.
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
// as many steps as fit into most tokens, but one at least.
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

// pinned returns what is pinned already.
func (c Conversation) pinned() []chela.EntryID {
	var ids []chela.EntryID
	for _, p := range c.Parts[:c.fixed()] {
		if p.Pinned {
			ids = append(ids, p.Entry)
		}
	}
	return ids
}

// from returns what the messages from i on take, as counted here.
func (c Conversation) from(i int) int {
	n := 0
	for _, p := range c.Parts[i:] {
		n += p.Tokens
	}
	return n
}

// leaving returns what the messages take that a plan takes away, as counted
// here.
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
