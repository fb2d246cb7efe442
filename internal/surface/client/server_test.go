package client_test

import (
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"chela"
	"chela/internal/surface/client"
)

// TestLocalServerIsAskedOnce: a server in the same process that answers
// Unavailable, as with a full disk, is not asked again.
func TestLocalServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	l := client.NewMemoryListener()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"kind":"unavailable","message":"the disk is full"}}`))
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }() // the test waits for it
	c := client.Local(l.Dial, testIDs())
	in := chela.Inbound{Session: "agent:main:main", Agent: "main", Text: "hi"}
	if _, err := c.Ask(t.Context(), in, func(chela.Event) {}); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("ask: %v", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
	if err := errors.Join(c.Close(), s.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// listen serves on a Unix socket until the test ends.
func listen(t *testing.T, h http.Handler) *client.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chela.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(l) //nolint:errcheck // it ends with the test
	}()
	c, err := client.Dial(t.Context(), path, testIDs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.Close()
		<-ended
	})
	return c
}
