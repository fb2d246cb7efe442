package script_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/script"
)

func TestFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault string
		after int // chunks before it
		want  chela.ProviderError
	}{
		{
			"{status: 429, retry_after_ms: 1500}", 0,
			chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 1500 * time.Millisecond, Unpaid: true, Msg: "Too Many Requests"},
		},
		{"{status: 500, message: boom}", 0, chela.ProviderError{Kind: chela.Unavailable, Status: 500, Retryable: true, Unpaid: true, Msg: "boom"}},
		{"{status: 529}", 0, chela.ProviderError{Kind: chela.Unavailable, Status: 529, Retryable: true, Unpaid: true, Msg: "failed"}},
		{"{status: 408}", 0, chela.ProviderError{Kind: chela.Unavailable, Status: 408, Retryable: true, Msg: "Request Timeout"}},
		{"{status: 401}", 0, chela.ProviderError{Kind: chela.Denied, Status: 401, Unpaid: true, Msg: "Unauthorized"}},
		{"{status: 403}", 0, chela.ProviderError{Kind: chela.Denied, Status: 403, Unpaid: true, Msg: "Forbidden"}},
		{"{status: 402}", 0, chela.ProviderError{Kind: chela.Exhausted, Status: 402, Unpaid: true, Msg: "Payment Required"}},
		{"{status: 404}", 0, chela.ProviderError{Kind: chela.NotFound, Status: 404, Unpaid: true, Msg: "Not Found"}},
		{"{status: 400}", 0, chela.ProviderError{Kind: chela.Invalid, Status: 400, Unpaid: true, Msg: "Bad Request"}},
		{"{overflow: true}", 0, chela.ProviderError{Kind: chela.Invalid, Status: 400, Overflow: true, Unpaid: true, Msg: "the prompt is too long"}},
		{"{cut: true}", 0, chela.ProviderError{Kind: chela.Unavailable, Cut: true, Retryable: true, Msg: "the stream ended before its end"}},
		{"{cut: true, after: 2}", 2, chela.ProviderError{Kind: chela.Unavailable, Cut: true, Retryable: true, Msg: "the stream ended before its end"}},
		{"{status: 529, after: 1}", 1, chela.ProviderError{Kind: chela.Unavailable, Status: 529, Retryable: true, Msg: "failed"}},
		{"{cut: true, after: 99}", 4, chela.ProviderError{Kind: chela.Unavailable, Cut: true, Retryable: true, Msg: "the stream ended before its end"}},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			p := setup(t, fmt.Sprintf("turns: [{steps: [{text: abcd, chunk_bytes: 1, fault: %s}]}]", tt.fault))
			chunks, _, err := play(t, p, ask(user("x")))
			var got *chela.ProviderError
			if !errors.As(err, &got) {
				t.Fatalf("got error %v, want a ProviderError", err)
			}
			tt.want.Provider = "script"
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
			if len(chunks) != tt.after {
				t.Errorf("got %d chunks, want %d", len(chunks), tt.after)
			}
		})
	}
}

func TestFaultTimes(t *testing.T) {
	t.Parallel()
	const scenario = "past_end: repeat\nturns: [{steps: [{text: ok, fault: {status: 503, times: 2}}]}]"
	const fault = "error: script answered 503: Service Unavailable"
	p := setup(t, scenario)
	first, second := user("first"), user("second")
	for i, tt := range []struct {
		message chela.Message
		want    string
	}{{first, fault}, {second, fault}, {first, fault}, {first, "ok"}, {second, fault}, {first, "ok"}, {second, "ok"}} {
		if got := text(t, p, tt.message); got != tt.want {
			t.Errorf("attempt %d: got %q, want %q", i, got, tt.want)
		}
	}
	other := ask(first)
	other.Session = "agent:other:main"
	if _, _, err := play(t, p, other); err == nil {
		t.Error("another session shares the count")
	}
}

func TestHangEndsWithContext(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{
		"turns: [{steps: [{text: abc, chunk_bytes: 1, fault: {hang: true, after: 1}}]}]",
		"turns: [{steps: [{text: abc, chunk_bytes: 1, chunk_delay_ms: 100000}]}]",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			var seen string
			var last error
			for c, err := range setup(t, scenario).Stream(ctx, ask(user("x"))) {
				seen += c.Text
				last = err
			}
			if seen != "a" || !errors.Is(last, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("got %q, %v after %v; want a, deadline exceeded, 1s", seen, last, time.Since(begin))
			}
		})
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	s := parse(t, "turns: [{steps: [{text: abc, chunk_bytes: 1, delay_ms: 70, chunk_delay_ms: 5}]}]")
	for _, tt := range []struct {
		name  string
		plain bool
		want  []time.Duration
	}{
		{"streamed", false, []time.Duration{70e6, 5e6, 5e6, 5e6}},
		{"plain", true, []time.Duration{70e6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var waited []time.Duration
			p := script.New(s, script.Config{Wait: func(_ context.Context, d time.Duration) error {
				waited = append(waited, d)
				return nil
			}})
			req := ask(user("x"))
			req.Plain = tt.plain
			if _, _, err := play(t, p, req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, waited); diff != "" {
				t.Errorf("waits (-want +got)\n%s", diff)
			}
		})
	}
}

func TestWaitInRealTimeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		got := text(t, setup(t, "turns: [{steps: [{text: abc, delay_ms: 250}]}]"), user("x"))
		if got != "abc" || time.Since(begin) != 250*time.Millisecond {
			t.Errorf("got %q after %v, want abc after 250ms", got, time.Since(begin))
		}
	})
}

func noWait(context.Context, time.Duration) error { return nil }
