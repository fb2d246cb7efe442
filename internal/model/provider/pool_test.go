package provider_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chela/internal/model/provider"
)

// TestConnectionsAreUsedAgain: however many requests run at once, later ones open no
// connection, also if the end of a body comes after its last event.
func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	const atOnce, rounds = 64, 5
	var opened atomic.Int64
	arrived := make(chan struct{}, atOnce)
	answer, read := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-answer
		fmt.Fprint(w, "data: hello\n\n")
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-read
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: provider.Pool()}
	t.Cleanup(client.CloseIdleConnections)
	for range rounds {
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				res, err := client.Get(server.URL)
				if err != nil {
					t.Error(err)
					return
				}
				for lines := bufio.NewScanner(res.Body); lines.Scan() && lines.Text() != "data: [DONE]"; {
				}
				read <- struct{}{}
				if err := res.Body.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		for range atOnce {
			<-arrived
		}
		for range atOnce {
			answer <- struct{}{}
		}
		all.Wait()
	}
	// A busy machine may take longer than the 20 ms to end a body.
	if n := opened.Load(); n > 2*atOnce {
		t.Errorf("%d connections were opened for %d rounds of %d requests", n, rounds, atOnce)
	}
}

// TestEndlessBodyIsClosed: a body that does not end is not waited for.
func TestEndlessBodyIsClosed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: provider.Pool()}
	t.Cleanup(client.CloseIdleConnections)
	res, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
}
