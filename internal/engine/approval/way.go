package approval

import (
	"context"

	"chela"
	"chela/internal/store"
)

// InWay returns the approvals that block a waiting message: those pending in
// its thread, except of turns that are stopping.
func InWay(ctx context.Context, r *store.Read, m chela.InboxMessage) ([]chela.Approval, error) {
	pending, err := r.PendingApprovals(ctx, m.Session)
	var found []chela.Approval
	for _, a := range pending {
		if a.Thread != m.Thread {
			continue
		}
		t, err := r.Turn(ctx, a.Turn)
		if err != nil {
			return nil, err
		}
		if !t.Stop {
			found = append(found, a)
		}
	}
	return found, err
}
