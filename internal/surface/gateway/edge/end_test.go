package edge_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// TestSilentConnectionsDoNotDelayTheEnd opens a connection, as browsers do ahead
// of need, and asks nothing on it.
func TestSilentConnectionsDoNotDelayTheEnd(t *testing.T) {
	t.Parallel()
	s, err := edge.New(edge.Config{IDs: chela.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}, []edge.Route{{
		Route: api.Route{Method: http.MethodGet, Path: "/hello", Scope: api.Public},
		Serve: func(v *edge.Visit) error { return v.Answer(http.StatusOK, "hello") },
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil) }() // received below

	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// Connections are taken in order: once this one has its answer, so was the
	// other.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + l.Addr().String() + "/hello")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()

	began := time.Now()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the server took %v to end", took)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Errorf("the silent connection got %v", err)
	}
}
