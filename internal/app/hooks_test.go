package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
)

// TestHooksHearOnce: a message that is delivered again was heard of, and comes
// to what it came to.
func TestHooksHearOnce(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	t.Cleanup(server.Close)
	cfg := newHome(t, twoWays)
	cfg.Hooks = []config.Hook{{Name: "all", Point: chela.HookBeforeInbound, Kind: config.HookWebhook, URL: server.URL, Timeout: time.Minute}}
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

// TestAcceptedOnceAtATime: a message that takes long to be accepted goes on when
// its sender has gone, and who sends it again waits for the same.
func TestAcceptedOnceAtATime(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	begun, let := make(chan struct{}, 9), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		heard.Add(1)
		begun <- struct{}{}
		<-let
	}))
	t.Cleanup(server.Close)
	cfg := newHome(t, twoWays)
	cfg.Hooks = []config.Hook{{Name: "all", Point: chela.HookBeforeInbound, Kind: config.HookWebhook, URL: server.URL, Timeout: time.Minute}}
	d := serveHome(t, cfg)
	const body = `{"session":"agent:main:main","text":"hello","message_id":"m1"}`
	ctx, leave := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://chela/api/messages", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		if res, err := d.private.Do(req); err == nil {
			res.Body.Close()
			t.Error("it was accepted before the hook had seen it")
		}
	})
	<-begun
	leave()
	sending.Wait()
	again := make(chan api.Receipt)
	sending.Go(func() { again <- gets[api.Receipt](t, d, "POST /api/messages", body) })
	select {
	case <-begun:
		t.Error("the hook sees it again")
		close(let)
		<-again
	case <-time.After(200 * time.Millisecond): // long enough to be heard again
		close(let)
		if r := <-again; r.Turn == "" {
			t.Errorf("the receipt is %+v", r)
		}
	}
	if got := heard.Load(); got != 1 {
		t.Errorf("the hook saw it %d times", got)
	}
}
