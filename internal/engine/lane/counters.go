package lane

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// updateCounters updates the session's counters of compactions and memory flushes from
// appended entries.
func updateCounters(ctx context.Context, w *store.Write, key chela.SessionKey, entries []chela.Entry) error {
	compactions, flushes := 0, 0
	var at time.Time
	for _, e := range entries {
		switch {
		case e.Kind() == chela.EntryCompaction:
			compactions++
		case e.Kind() == chela.EntryNote && e.Mark().Note == chela.NoteFlush:
			flushes++
			at = e.CreatedAt.UTC().Truncate(time.Microsecond)
		}
	}
	if compactions+flushes == 0 {
		return nil
	}
	s, err := w.Session(ctx, key)
	if err != nil {
		return err
	}
	s.Settings.Compactions += compactions
	s.Settings.MemoryFlushes += flushes
	if flushes > 0 {
		s.Settings.MemoryFlushedAt = at
	}
	return w.SaveSession(ctx, s)
}
