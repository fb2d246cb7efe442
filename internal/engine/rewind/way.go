package rewind

import (
	"cmp"
	"context"
	"slices"

	"chela"
	"chela/internal/store"
)

// A leg is the part of a turn on a way: its entries with sequence numbers above
// after, up to the stretch's last.
type leg struct {
	store.Segment
	after int64
}

// wayBetween returns the calls on the way from a head to a target, either of
// which may be empty.
func wayBetween(ctx context.Context, r *store.Read, head, target chela.EntryID) (w Path, err error) {
	undone, redone, err := legs(ctx, r, head, target)
	if err != nil {
		return w, err
	}
	if w.Undone, err = parts(ctx, r, undone); err != nil {
		return w, err
	}
	w.Redone, err = parts(ctx, r, redone)
	slices.Reverse(w.Redone)
	return w, err
}

// A climb is the part of the path from an entry to the root that was read so
// far.
type climb struct {
	legs []store.Segment
	at   map[chela.TurnID]int // index into legs
	next chela.EntryID        // next entry to read; empty at the root
}

func newClimb(from chela.EntryID) *climb { return &climb{at: map[chela.TurnID]int{}, next: from} }

// firstPage is the size of the first page of turns: most undos are of one turn.
const firstPage = 4

// further reads the next page, which at least doubles the number of stretches.
func (c *climb) further(ctx context.Context, r *store.Read) error {
	if c.next == "" {
		return nil
	}
	page, err := r.Stretches(ctx, c.next, firstPage+len(c.legs))
	if err != nil {
		return err
	}
	if len(page) == 0 {
		return chela.E(chela.Internal, "the journal lacks entry "+string(c.next))
	}
	for _, s := range page {
		c.at[s.Turn] = len(c.legs)
		c.legs = append(c.legs, s)
	}
	c.next = page[len(page)-1].Base
	return nil
}

// legs returns the legs of both ends up to the turn in which they meet, newest
// first.
func legs(ctx context.Context, r *store.Read, head, target chela.EntryID) (undone, redone []leg, err error) {
	from, to := newClimb(head), newClimb(target)
	for {
		if err := cmp.Or(from.further(ctx, r), to.further(ctx, r)); err != nil {
			return nil, nil, err
		}
		for i, s := range from.legs {
			if j, both := to.at[s.Turn]; both {
				cut := min(s.Seq, to.legs[j].Seq)
				return above(from.legs[:i+1], cut), above(to.legs[:j+1], cut), nil
			}
		}
		if from.next == "" && to.next == "" { // they have no common entry
			return above(from.legs, 0), above(to.legs, 0), nil
		}
	}
}

// above returns stretches as legs, the last one limited to sequence numbers
// above cut.
func above(stretches []store.Segment, cut int64) []leg {
	legs := make([]leg, len(stretches))
	for i, s := range stretches {
		legs[i] = leg{Segment: s}
	}
	if last := len(legs) - 1; last >= 0 {
		legs[last].after = cut
		if legs[last].Seq <= cut {
			legs = legs[:last]
		}
	}
	return legs
}

// parts loads the calls of legs.
func parts(ctx context.Context, r *store.Read, legs []leg) ([]Part, error) {
	var parts []Part
	for _, l := range legs {
		calls, err := callsOf(ctx, r, l)
		if err != nil {
			return nil, err
		}
		if len(calls) > 0 {
			parts = append(parts, calls)
		}
	}
	return parts, nil
}

// callsOf loads the calls whose results lie on a leg.
func callsOf(ctx context.Context, r *store.Read, l leg) (Part, error) {
	calls, err := r.Calls(ctx, l.Turn)
	if err != nil || !l.Cut && l.after == 0 || len(calls) == 0 {
		return calls, err
	}
	entries, err := r.TurnEntries(ctx, l.Turn)
	on := map[chela.CallID]bool{}
	for _, e := range entries {
		if e.Kind() == chela.EntryToolResult && e.Seq > l.after && e.Seq <= l.Seq {
			on[e.Result().Call] = true
		}
	}
	return slices.DeleteFunc(calls, func(c chela.ToolCall) bool { return !on[c.ID] }), err
}

// settled reports whether a turn may begin below an entry: all calls before it
// have results.
func settled(ctx context.Context, r *store.Read, e chela.Entry) (bool, error) {
	entries, err := r.TurnEntries(ctx, e.Turn)
	open := map[chela.CallID]bool{}
	for _, said := range entries {
		if said.Seq > e.Seq {
			break
		}
		for _, c := range said.Answer().Calls {
			open[c.ID] = true
		}
		delete(open, said.Result().Call)
	}
	return len(open) == 0, err
}
