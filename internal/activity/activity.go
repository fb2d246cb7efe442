// Package activity tells what the turns of this process are doing right now. It
// is folded from what they announce while they run, so nothing is written for
// it; of turns that another process runs the journal tells less.
package activity

import (
	"sync"

	"chela"
)

// A Board knows what turns do. The zero value is ready; it may be used by
// several goroutines at once.
type Board struct {
	mu    sync.Mutex
	doing map[chela.TurnID]chela.Activity // guarded by mu; turns that run here
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
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now == "" {
		delete(b.doing, e.Turn)
		return
	}
	if b.doing == nil {
		b.doing = map[chela.TurnID]chela.Activity{}
	}
	b.doing[e.Turn] = now
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
