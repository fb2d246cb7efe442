package lane

import (
	"slices"
	"sync"
	"time"

	"chela"
	"chela/internal/api"
)

const (
	maxRecent      = 256      // turns
	maxRecentBytes = 16 << 10 // of the texts of a turn that is kept
)

// RecentTurns holds the output of turns that this process has just completed with one
// answer, so that whoever waited for it need not read back what was just written. An
// output is handed out once. The zero RecentTurns is empty. It is safe for concurrent use.
type RecentTurns struct {
	mu    sync.Mutex
	turns map[chela.TurnID]api.Trace // guarded by mu; up to maxRecent
	order []chela.TurnID             // guarded by mu; the oldest first, also of turns that were taken
}

// Put keeps the output of a turn, which the database has. Its entries must be all of the
// turn, and are not changed any more. Long outputs, and turns with calls, are not kept.
func (r *RecentTurns) Put(t chela.Turn, entries []chela.Entry) {
	if !isOneAnswer(t) {
		return
	}
	size := 0
	for _, e := range entries {
		size += len(e.Text())
	}
	if size > maxRecentBytes {
		return
	}
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].CreatedAt = stored(entries[i].CreatedAt)
	}
	t.CreatedAt, t.FinishedAt = stored(t.CreatedAt), stored(t.FinishedAt)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns == nil {
		r.turns = map[chela.TurnID]api.Trace{}
	}
	if len(r.order) == maxRecent {
		delete(r.turns, r.order[0])
		copy(r.order, r.order[1:])
		r.order = r.order[:maxRecent-1]
	}
	r.turns[t.ID] = api.Trace{Turn: t, Entries: entries}
	r.order = append(r.order, t.ID)
}

// stored returns a time as the database has it.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// take returns and removes the output of a turn.
func (r *RecentTurns) take(id chela.TurnID) (api.Trace, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tr, ok := r.turns[id]
	delete(r.turns, id)
	return tr, ok
}

// isOneAnswer reports whether a turn has completed with one answer, which had no calls.
func isOneAnswer(t chela.Turn) bool { return t.State == chela.TurnCompleted && t.Steps == 1 }
