package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chela/internal/model/provider"
)

// A slow server sends its headers, and then a byte after each of some times; then
// the answer ends.
type slow struct {
	headers time.Duration
	bytes   []time.Duration
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := wait(r.Context(), s.headers); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: &slowBody{ctx: r.Context(), bytes: s.bytes}}, nil
}

type slowBody struct {
	ctx   context.Context
	bytes []time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.bytes) == 0 {
		return 0, io.EOF
	}
	if err := wait(b.ctx, b.bytes[0]); err != nil {
		return 0, err
	}
	b.bytes = b.bytes[1:]
	return copy(p, ":"), nil
}

func (b *slowBody) Close() error { return nil }

// TestIdle gives up requests of which nothing comes, and no others.
func TestIdle(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for _, tt := range []struct {
		name   string
		server slow
		limit  time.Duration
		leaves time.Duration // the caller; 0 for never
		want   string        // of the error; empty for none
		took   time.Duration
	}{
		{"answers", slow{minute, []time.Duration{minute, minute}}, 5 * minute, 0, "", 3 * minute},
		{"shows life for an hour", slow{0, []time.Duration{4 * minute, 5*minute - 1, 4 * minute, 4 * minute}}, 5 * minute, 0, "", 17*minute - 1},
		{"is slow to begin", slow{7 * minute, []time.Duration{7 * minute}}, 5 * minute, 0, "", 14 * minute},
		{"never answers", slow{headers: 24 * 60 * minute}, 5 * minute, 0, "no data received for 15m0s", 15 * minute},
		{"sends headers alone", slow{minute, []time.Duration{24 * 60 * minute}}, 5 * minute, 0, "no data received for 15m0s", 15 * minute},
		{"falls silent", slow{minute, []time.Duration{minute, 24 * 60 * minute}}, 5 * minute, 0, "no data received for 5m0s", 7 * minute},
		{"may be silent", slow{minute, []time.Duration{minute, 24 * 60 * minute}}, 0, 0, "", 24*60*minute + 2*minute},
		{"is left", slow{minute, []time.Duration{minute, 24 * 60 * minute}}, 5 * minute, 3 * minute, context.DeadlineExceeded.Error(), 3 * minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.leaves > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.leaves)
					defer cancel()
				}
				began := time.Now()
				err := read(ctx, provider.Idle(tt.server, provider.IdleConfig{Limit: tt.limit, AfterFunc: time.AfterFunc}))
				if got := time.Since(began); got != tt.took {
					t.Errorf("took %v, want %v", got, tt.took)
				}
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("ended with %v, want %q", err, tt.want)
				}
				if tt.leaves > 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v is not the caller's", err)
				}
			})
		})
	}
}

// read performs a request and reads its answer.
func read(ctx context.Context, transport http.RoundTripper) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}
