package job

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// TestLimitsOfATurn: a job gets what it asks for up to the limits of its class, which
// also hold for a job that asks for nothing. What its turns took is subtracted.
func TestLimitsOfATurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked chela.JobOptions
		want  chela.Overrides
	}{
		"nothing": {chela.JobOptions{}, chela.Overrides{Steps: 10, Time: chela.Span(time.Minute), Tokens: 1000}},
		"less": {
			chela.JobOptions{Steps: 9, Timeout: chela.Span(time.Second), Tokens: 999},
			chela.Overrides{Steps: 9, Time: chela.Span(time.Second), Tokens: 999},
		},
		"more": {
			chela.JobOptions{Steps: 11, Timeout: chela.Span(time.Hour), Tokens: 1001},
			chela.Overrides{Steps: 10, Time: chela.Span(time.Minute), Tokens: 1000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t)
			b.desk.cfg.Jobs.Steps, b.desk.cfg.Jobs.Timeout, b.desk.cfg.Jobs.Tokens = 10, time.Minute, 1000
			b.desk.cfg.Subagents = ClassLimits{Parallel: 5, Waiting: 10, Steps: 1, Timeout: 1, Tokens: 1}
			j := b.underWay(func(o *CreateRequest) {})
			j.Options = c.asked
			for i, spent := range []int64{0, 100, 1000} {
				if i > 0 {
					b.must(b.desk.store.Write(t.Context(), "test", func(w *store.Write) error {
						return w.Charge(t.Context(), chela.Usage{
							ID: chela.UsageID(fmt.Sprint("use_", spent)), Payer: chela.Payer{Session: j.Session, Purpose: "turn"}, Model: "m",
							State: chela.UsageSettled, Tokens: chela.TokenUsage{Input: []int64{0, 100, 900}[i]}, CreatedAt: b.now,
						})
					}))
				}
				want := c.want
				if want.Tokens -= spent; spent == 1000 {
					want.Tokens = -1
				}
				got, err := store.Find(t.Context(), b.desk.store, func(r *store.Read) (chela.Overrides, error) { return b.desk.overrides(t.Context(), r, j) })
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("after %d tokens: %v (-want +got)\n%s", spent, err, diff)
				}
			}
		})
	}
}
