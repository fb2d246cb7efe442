package local_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"chela/internal/platform/local"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		d, until, took time.Duration
		cut            bool
	}{
		"all of it":         {time.Minute, time.Hour, time.Minute, false},
		"cut short":         {time.Hour, time.Minute, time.Minute, true},
		"nothing":           {0, time.Minute, 0, false},
		"less than nothing": {-time.Second, time.Minute, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.until)
				defer cancel()
				began := time.Now()
				err := local.Sleep(ctx, tt.d)
				if took := time.Since(began); took != tt.took || errors.Is(err, context.DeadlineExceeded) != tt.cut {
					t.Errorf("it took %s, error %v", took, err)
				}
			})
		})
	}
}

func TestSleepAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := local.Sleep(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
