// Package activity tells what the turns of this process are doing right now. It
// is folded from what they announce while they run, so nothing is written for
// it; of turns that another process runs the journal tells less.
package activity

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"chela"
)

// A Board knows what turns do. The zero value is ready; it may be used by
// several goroutines at once.
type Board struct {
	mu    sync.Mutex
	doing map[chela.TurnID]chela.Activity // guarded by mu; turns that run here
	signs map[chela.TurnID]Sign           // guarded by mu; the last of each of them
}

// A Sign is the last that was heard of a turn that runs here.
type Sign struct {
	Turn    chela.TurnID
	Session chela.SessionKey
	Doing   chela.Activity
	Tool    string // that runs, if one does
	At      time.Time
	Until   time.Time // when the calls that run have to have ended, if one of them has a limit
}

// Hear takes note of what a turn announces.
func (b *Board) Hear(e chela.Event) {
	if e.Turn == "" {
		return
	}
	var now chela.Activity
	switch e.Kind {
	case chela.EventTurnStarted:
		now = chela.ActivityWaiting // for its place
	case chela.EventTurnProgress:
		now = e.Activity
	case chela.EventThinkingDelta, chela.EventTextReset:
		now = chela.ActivityThinking
	case chela.EventTextDelta:
		now = chela.ActivityStreaming
	case chela.EventToolStarted:
		now = chela.ActivityTools
	case chela.EventNotice:
		if e.Error == "" {
			return
		}
	case chela.EventApprovalRequested, chela.EventToolOffered, chela.EventTurnFinished: // it runs no more
	default:
		b.refresh(e)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now == "" {
		delete(b.doing, e.Turn)
		delete(b.signs, e.Turn)
		return
	}
	if b.doing == nil {
		b.doing, b.signs = map[chela.TurnID]chela.Activity{}, map[chela.TurnID]Sign{}
	}
	b.doing[e.Turn] = now
	b.signs[e.Turn] = Sign{Turn: e.Turn, Session: e.Session, Doing: now, Tool: e.Tool, At: e.At, Until: until(b.signs[e.Turn], e)}
}

// until returns when the calls of a turn have to have ended after one more started:
// others of the same step may run beside it.
func until(last Sign, e chela.Event) time.Time {
	if e.Kind == chela.EventToolStarted && last.Until.After(e.Until) {
		return last.Until
	}
	return e.Until
}

// refresh takes note that a turn lives that does what it did before.
func (b *Board) refresh(e chela.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.signs[e.Turn]; ok && e.At.After(s.At) {
		s.At = e.At
		b.signs[e.Turn] = s
	}
}

// Quiet returns the last signs of the turns that run here of which nothing was
// heard since a time, those that have been quiet for longest first. One that waits
// for its place or for somebody is not quiet.
func (b *Board) Quiet(since time.Time) []Sign {
	b.mu.Lock()
	defer b.mu.Unlock()
	var quiet []Sign
	for _, s := range b.signs {
		if s.Doing != chela.ActivityWaiting && s.At.Before(since) {
			quiet = append(quiet, s)
		}
	}
	slices.SortFunc(quiet, func(a, b Sign) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Turn, b.Turn))
	})
	return quiet
}

// Of returns what a turn is doing; empty for one that ended. Runs tells, of a
// turn that is not heard of here, whether some process runs it.
func (b *Board) Of(t chela.Turn, runs bool) chela.Activity {
	switch t.State {
	case chela.TurnProcessing:
	case chela.TurnAwaiting:
		return chela.ActivityWaiting
	default:
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.doing[t.ID]; now != "" {
		return now
	}
	if runs {
		return chela.ActivityThinking
	}
	return chela.ActivityWaiting
}
