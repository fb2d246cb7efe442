package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"chela/internal/platform/local"
)

func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
		defer cancel()
		began, calls := time.Now(), 0
		local.Every(ctx, 10*time.Second, func() { calls++ })
		if took := time.Since(began); calls != 3 || took != 35*time.Second {
			t.Errorf("%d calls in %s", calls, took)
		}
	})
}
