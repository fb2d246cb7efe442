package work

import (
	"context"
	"fmt"
	"time"

	"chela/internal/api"
	"chela/internal/store"
)

// overdue is the time after which due work counts as unattended.
const overdue = 5 * time.Minute

// Examine returns a finding if work is overdue.
func Examine(ctx context.Context, r *store.Read, now time.Time) ([]api.Finding, error) {
	next, err := r.NextWork(ctx)
	if err != nil {
		return nil, err
	}
	var first time.Time
	for _, due := range next {
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	waited := now.Sub(first).Truncate(time.Second)
	if first.IsZero() || waited < overdue {
		return nil, nil
	}
	return []api.Finding{{
		Subject: "work", Text: fmt.Sprintf("jobs or routines have waited for %s, and no process performs them", waited),
		Cure: "chela serve does, or the chat while it is open",
	}}, nil
}
