package app_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"chela"
	"chela/internal/config/hooks"
)

// TestHooksHearOnce: a message that is delivered again was heard of, and comes
// to what it came to.
func TestHooksHearOnce(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	t.Cleanup(server.Close)
	cfg := newHome(t, twoWays)
	cfg.Hooks = []hooks.Hook{{Name: "all", Point: chela.HookBeforeInbound, Kind: hooks.Webhook, URL: server.URL, Timeout: time.Minute}}
	b := openBackend(t, cfg)
	first, _ := talked(t, b, message("agent:main:main", "m1", "hello"))
	again, _ := talked(t, b, message("agent:main:main", "m1", "hello"))
	if first.ID != again.ID {
		t.Errorf("turns %s and %s", first.ID, again.ID)
	}
	for range 2 {
		ordered(t, b, message("agent:main:main", "m2", "/ping"))
	}
	if got := heard.Load(); got != 2 {
		t.Errorf("hooks heard of %d messages, want 2", got)
	}
}
