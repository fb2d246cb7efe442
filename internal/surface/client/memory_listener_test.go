package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"chela/internal/surface/client"
)

// TestServe lets several clients ask an HTTP server over a listener.
func TestServe(t *testing.T) {
	t.Parallel()
	l := client.NewMemoryListener()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text) // the client sees what is missing
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }() // the test waits for it
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }}}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			want := strings.Repeat("text ", 20_000)
			res, err := c.Post("http://chela/", "text/plain", strings.NewReader(want))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if got, err := io.ReadAll(res.Body); err != nil || string(got) != want {
				t.Errorf("%d bytes came back, %v", len(got), err)
			}
		})
	}
	clients.Wait()
	c.CloseIdleConnections()
	if err := errors.Join(s.Shutdown(t.Context()), l.Close()); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// TestDialFails: a dial ends with its context, and when the listener is closed.
func TestDialFails(t *testing.T) {
	t.Parallel()
	l := client.NewMemoryListener()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
	l.Close()
	if _, err := l.Dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after Close: %v", err)
	}
}
