package job

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// Examine returns a finding about the unfinished jobs of a home.
func Examine(ctx context.Context, r *store.Read) (api.Finding, error) {
	f := api.Finding{Subject: "jobs", OK: true, Text: "no job waits for a person"}
	live, err := r.CountLive(ctx)
	if n := live[chela.JobAwaiting]; n > 0 {
		f.Text, f.Cure = fmt.Sprintf("%d of them waiting for a person", n), "chela approvals list shows what they ask"
	}
	return f, err
}
