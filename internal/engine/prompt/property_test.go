package prompt_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/prompt"
)

// A course is a conversation as it comes about, with a budget that is drawn.
type course struct {
	t       *rapid.T
	entries []chela.Entry
	live    prompt.Conversation
	budget  prompt.Budget
	turn    int
}

func (c *course) add(body chela.Body) {
	n := len(c.entries) + 1
	e := chela.Entry{
		ID: chela.EntryID(fmt.Sprintf("e%d", n)), Turn: chela.TurnID(fmt.Sprintf("t%d", c.turn)), Seq: int64(n),
		Body: body, Tokens: rapid.IntRange(1, 200).Draw(c.t, "tokens"),
	}
	if b, ok := body.(chela.AnswerBody); ok {
		b.Ratio = rapid.SampledFrom([]float64{0, 0, 0.8, 1.3}).Draw(c.t, "ratio")
		e.Body = b
	}
	c.append(e)
}

func (c *course) append(e chela.Entry) {
	c.entries = append(c.entries, e)
	c.live = c.live.Append(e)
}

// step adds a request's worth of entries: what comes before it, and the answer.
func (c *course) step() {
	switch rapid.IntRange(0, 9).Draw(c.t, "before") {
	case 0, 1, 2:
		c.turn++
		c.add(chela.UserBody{Text: "question"})
	case 3:
		c.add(chela.UserBody{Text: "more"})
	case 4:
		c.add(chela.NoteBody{Text: "a note"})
	}
	c.makeRoom()
	body := chela.AnswerBody{Text: "answer"}
	flush := chela.NoteKind("")
	if rapid.IntRange(0, 9).Draw(c.t, "flush") == 0 {
		c.add(chela.NoteBody{Text: "write notes", Mark: chela.Mark{Note: chela.NoteFlush}})
		flush = chela.NoteFlush
	}
	for i := range rapid.IntRange(0, 2).Draw(c.t, "calls") {
		body.Calls = append(body.Calls, chela.CallSpec{ID: chela.CallID(fmt.Sprintf("c%d_%d", len(c.entries), i)), Tool: "look"})
	}
	body.Note = flush
	c.add(body)
	for _, call := range body.Calls {
		c.add(chela.ResultBody{Call: call.ID, Status: chela.CallDone, Mark: chela.Mark{Note: flush}})
	}
}

// makeRoom compacts as a turn does in front of a request.
func (c *course) makeRoom() {
	refused := rapid.IntRange(0, 9).Draw(c.t, "refused") == 0
	tried := c.live.Tried
	for n := 0; ; n++ {
		p, ok := c.live.Plan(c.budget, prompt.Stronger(tried, c.live.Tried), refused)
		if !ok {
			break
		}
		if n == 3 {
			c.t.Fatal("a fourth compaction for one request")
		}
		if rapid.IntRange(0, 4).Draw(c.t, "fails") == 0 {
			tried = p.Strategy
			continue
		}
		before := c.live
		e := compacted(before, p, len(c.entries)+1)
		e.Tokens = rapid.IntRange(0, c.budget.SummaryRoom()).Draw(c.t, "summary")
		b := e.Compaction()
		b.Ratio = before.Ratio
		e.Body = b
		c.append(e)
		c.checkKept(before, p)
		refused = false
	}
	c.checkSmall(tried)
}

// checkKept wants the newest step to stay.
func (c *course) checkKept(before prompt.Conversation, p prompt.Plan) {
	stay := map[chela.EntryID]bool{}
	for _, part := range c.live.Parts {
		stay[part.Entry] = true
	}
	last := len(before.Parts) - 1
	for last > 0 && before.Parts[last].Kind != chela.EntryAssistant && before.Parts[last].Kind != chela.EntryUser {
		last--
	}
	for i, part := range before.Parts {
		switch {
		case part.Flush || part.Kind == chela.EntryCompaction:
			continue
		case i >= last && !stay[part.Entry]:
			c.t.Fatalf("%s of the newest step left by %+v: %s", part.Entry, p, held(c.live))
		}
	}
}

// checkSmall wants a prompt that does not fit to be one that cannot be made
// smaller: everything was tried, or nothing is left to leave that would help.
func (c *course) checkSmall(tried chela.Strategy) {
	if c.budget.Fits(c.live) || prompt.Stronger(tried, c.live.Tried) == chela.StrategyTruncate {
		return
	}
	steps, said := 0, 0
	for _, p := range c.live.Parts {
		if p.Kind == chela.EntryAssistant && !p.Flush {
			steps++
		}
		if p.Kind == chela.EntryUser && p.Turn == c.live.Parts[len(c.live.Parts)-1].Turn {
			said += p.Tokens
		}
	}
	if c.live.Corrected(c.budget.Frame+said) > c.budget.Room {
		return // what was said last does not fit by itself
	}
	if p, ok := c.live.Plan(c.budget, "", true); ok && steps > 1 {
		c.t.Fatalf("uses %d of %d, holds %s, and could leave by %+v", c.budget.Used(c.live), c.budget.Room, held(c.live), p)
	}
}

// check wants a well-formed prompt that is the same as what is read.
func (c *course) check() {
	if diff := cmp.Diff(fold(promptPath(c.entries)), c.live, cmpopts.EquateEmpty()); diff != "" {
		c.t.Fatalf("conversation (-read +lived):\n%s", diff)
	}
	open := map[chela.CallID]bool{}
	sum := 0
	for i, m := range c.live.Messages {
		sum += c.live.Parts[i].Tokens
		switch {
		case i == 0 && m.Role != chela.RoleUser:
			c.t.Fatalf("begins with %s", m.Role)
		case m.Role == chela.RoleTool && !open[m.Call]:
			c.t.Fatalf("message %d is a result of a call that is not open", i)
		case m.Role == chela.RoleTool:
			delete(open, m.Call)
		case len(open) > 0:
			c.t.Fatalf("message %d of %s comes before the results of %v", i, m.Role, open)
		}
		for _, call := range m.Calls {
			open[call.ID] = true
		}
	}
	if len(open) > 0 || len(c.live.Messages) == 0 || sum != c.live.Tokens {
		c.t.Fatalf("%d open calls, %d messages, %d tokens of %d", len(open), len(c.live.Messages), c.live.Tokens, sum)
	}
}

// Any sequence of entries and compactions gives a well-formed prompt.
func TestConversations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := course{t: t, budget: prompt.Settings{
			Reserve: rapid.IntRange(0, 500).Draw(t, "reserve"), KeepRecent: rapid.IntRange(0, 1000).Draw(t, "keep"),
		}.Budget(prompt.Frame{Window: rapid.IntRange(500, 5000).Draw(t, "window")})}
		c.budget.Frame = rapid.IntRange(0, c.budget.Room/2).Draw(t, "frame")
		c.add(chela.UserBody{Text: "first"})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			c.step()
			c.check()
		}
	})
}
