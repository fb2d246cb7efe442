package cost

import (
	"context"

	"chela"
)

// Release gives a reservation back.
func (l *Ledger) Release(ctx context.Context, u chela.Usage) { l.release(ctx, u) }

// Open returns how many calls without a turn are under way.
func (l *Ledger) Open() (n int) {
	l.open.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}
