package transcript

import (
	"cmp"
	"slices"
	"time"

	"chela"
)

// maxSteps limits the total work of checking compactions.
const maxSteps = 5_000_000

// skippedText is the result added for an unanswered call.
const skippedText = "The call was not carried out: the transcript that it comes from ends before its result."

// A tree makes imported entries well-formed.
type tree struct {
	Transcript
	ids     naming
	grown   []chela.Entry // parents first, with results added for unanswered calls
	place   map[chela.EntryID]int
	lines   map[chela.EntryID]int
	open    map[chela.EntryID][]chela.CallSpec // unanswered calls below an entry
	below   map[chela.EntryID]bool             // entries with children
	skipped map[chela.EntryID]chela.EntryID    // last result added below an entry
}

// grow turns decoded entries into a well-formed transcript. Entries that cannot
// be repaired are Invalid.
func grow(d decoder) (Transcript, error) {
	t := tree{
		Transcript: d.t, ids: d.ids, place: make(map[chela.EntryID]int, len(d.t.Entries)), lines: d.at,
		open: map[chela.EntryID][]chela.CallSpec{}, below: map[chela.EntryID]bool{}, skipped: map[chela.EntryID]chela.EntryID{},
	}
	for _, e := range d.t.Entries {
		if err := t.hang(e); err != nil {
			return Transcript{}, err
		}
	}
	for _, e := range slices.Clone(t.grown) {
		if !t.below[e.ID] {
			t.answered(e.ID)
		}
	}
	if err := t.checkCompactions(); err != nil {
		return Transcript{}, err
	}
	t.Head = d.t.Entries[len(d.t.Entries)-1].ID
	if d.head != "" {
		t.Head = d.ids.entry(string(d.head))
		if _, known := t.place[t.Head]; !known {
			return Transcript{}, refuse(1, "the head of the thread is not in the file")
		}
	}
	t.Head = t.answered(t.Head)
	t.Entries = t.grown
	t.turns()
	return t.Transcript, nil
}

// hang adds an entry below its parent.
func (t *tree) hang(e chela.Entry) error {
	open := t.open[e.Parent]
	switch b := e.Body.(type) {
	case chela.ResultBody:
		i := slices.IndexFunc(open, func(c chela.CallSpec) bool { return t.answers(b, c) })
		if i < 0 {
			return refuse(t.lines[e.ID], "the result answers no open call").
				WithHint("each result must follow its call, one per call")
		}
		b.Call, b.Ref, b.Tool = open[i].ID, open[i].Ref, cmp.Or(b.Tool, open[i].Tool)
		e.Body = b
		open = slices.Delete(slices.Clone(open), i, i+1)
	case chela.CustomBody: // not part of a prompt
	default:
		e.Parent, open = t.answered(e.Parent), e.Answer().Calls
	}
	if err := t.checkCalls(e); err != nil {
		return err
	}
	if len(open) > 0 {
		t.open[e.ID] = open
	}
	t.add(e)
	return nil
}

func (t *tree) add(e chela.Entry) {
	t.below[e.Parent] = true
	t.place[e.ID] = len(t.grown)
	t.grown = append(t.grown, e)
}

// answers reports whether a result belongs to a call.
func (t *tree) answers(b chela.ResultBody, c chela.CallSpec) bool {
	if t.ids.own {
		return b.Call == c.ID
	}
	return b.Ref == c.Ref
}

// checkCalls refuses calls with duplicate ids or without a tool.
func (t *tree) checkCalls(e chela.Entry) error {
	seen := map[chela.CallID]bool{}
	for _, c := range e.Answer().Calls {
		switch {
		case c.Tool == "":
			return refuse(t.lines[e.ID], "a call names no tool")
		case seen[c.ID]:
			return refuse(t.lines[e.ID], "two calls have the same id")
		}
		seen[c.ID] = true
	}
	return nil
}

// answered returns the entry to append to below id: id itself, or the last of
// the results added for its unanswered calls.
func (t *tree) answered(id chela.EntryID) chela.EntryID {
	if last, done := t.skipped[id]; done {
		return last
	}
	parent, last := id, id
	for _, c := range t.open[id] {
		above := t.grown[t.place[last]]
		e := chela.Entry{
			ID: t.ids.skipped(parent, c.ID), Parent: last, Turn: above.Turn, CreatedAt: above.CreatedAt,
			Body: chela.ResultBody{Text: skippedText, Call: c.ID, Ref: c.Ref, Tool: c.Tool, Status: chela.CallSkipped},
		}
		t.add(e)
		last = e.ID
	}
	t.skipped[id] = last
	return last
}

// checkCompactions checks that compactions keep entries above them. A compacted
// transcript lacks the entries before its root: there everything is kept.
func (t *tree) checkCompactions() error {
	steps := 0
	for i := range t.grown {
		e := &t.grown[i]
		b, ok := e.Body.(chela.CompactionBody)
		if !ok {
			continue
		}
		above := map[chela.EntryID]bool{e.ID: true}
		root := e.ID
		for at := e.Parent; at != ""; at = t.grown[t.place[at]].Parent {
			above[at], root = true, at
			if steps++; steps > maxSteps {
				return refuse(t.lines[e.ID], "there are too many compactions")
			}
		}
		missing := func(id chela.EntryID) bool { return !above[id] }
		if (missing(b.FirstKept) || slices.ContainsFunc(b.Pinned, missing)) && !t.Compacted {
			return refuse(t.lines[e.ID], "the compaction keeps an entry that is not its ancestor")
		}
		if missing(b.FirstKept) {
			b.FirstKept = root
		}
		b.Pinned = slices.DeleteFunc(b.Pinned, missing)
		e.Body = b
	}
	return nil
}

// turns assigns every entry to a turn and completes the records of the turns.
func (t *tree) turns() {
	known := make(map[chela.TurnID]chela.Turn, len(t.Turns))
	for _, turn := range t.Turns {
		known[turn.ID] = turn
	}
	t.Turns = nil
	at := map[chela.TurnID]int{}
	for i := range t.Entries {
		e := &t.Entries[i]
		e.Turn = t.turnOf(*e)
		n, begun := at[e.Turn]
		if !begun {
			n = len(t.Turns)
			at[e.Turn] = n
			t.Turns = append(t.Turns, opened(known[e.Turn], *e))
		}
		end(&t.Turns[n], *e, known[e.Turn])
	}
}

// turnOf returns the turn of an entry: the turn named in the file, a new one
// for a user message, or the parent's turn.
func (t *tree) turnOf(e chela.Entry) chela.TurnID {
	switch {
	case isID(string(e.Turn), "turn_"):
		return e.Turn
	case e.Kind() == chela.EntryUser || e.Parent == "":
		return t.ids.turn(e.ID)
	default:
		return t.Entries[t.place[e.Parent]].Turn
	}
}

// opened returns the record of a turn that begins with an entry. A turn still
// open at the export counts as interrupted.
func opened(turn chela.Turn, first chela.Entry) chela.Turn {
	turn.ID, turn.Base, turn.Stop = first.Turn, first.Parent, false
	turn.Crashes, turn.Steps = max(turn.Crashes, 0), max(turn.Steps, 0)
	if turn.CreatedAt.IsZero() {
		turn.CreatedAt = first.CreatedAt
	}
	switch {
	case turn.State == "":
		turn.State = chela.TurnCompleted
	case !turn.State.Ended():
		turn.State, turn.FinishedAt = chela.TurnInterrupted, time.Time{}
		turn.Failure = &chela.Failure{Kind: chela.Unavailable, Message: "the transcript was written before the turn ended"}
	}
	return turn
}

// end updates a turn with an entry, for fields that the file does not record.
func end(turn *chela.Turn, e chela.Entry, recorded chela.Turn) {
	if !recorded.State.Ended() || recorded.FinishedAt.IsZero() {
		turn.FinishedAt = e.CreatedAt
	}
	b, ok := e.Body.(chela.AnswerBody)
	if recorded.ID != "" || !ok {
		return
	}
	turn.Steps++
	turn.Model = cmp.Or(b.Model, turn.Model)
}
