package gateway_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/edge"
)

// instant is a conversation that costs nothing, so that only the gateway is
// measured.
type instant struct{ *home }

func (instant) Accept(_ context.Context, in chela.Inbound) (api.Receipt, error) {
	return api.Receipt{Session: in.Session, Thread: "thr_x", Turn: "turn_x"}, nil
}

// BenchmarkMessages measures what the gateway adds to a message, without the
// network.
func BenchmarkMessages(b *testing.B) {
	h := newHome(b)
	cfg := gateway.Config{Home: h.home(), Config: edge.Config{
		IDs: chela.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler), Tokens: h, Requests: h.requests, MessagesPerMinute: 1 << 40,
	}}
	cfg.Home.Conversation = instant{h}
	g, err := gateway.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	handler := g.Handler()
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/api/messages", strings.NewReader(`{"text":"hello there","message_id":"m"}`))
		r.Header.Set("Authorization", "Bearer "+chatSecret)
		r.Header.Set("Content-Type", api.JSON)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted {
			b.Fatal(w.Body)
		}
	}
}

// BenchmarkEvents measures an event on its way to all of many readers.
func BenchmarkEvents(b *testing.B) {
	d := run(b)
	const readers = 100
	var got sync.WaitGroup // what was told and not read yet
	for range readers {
		resp := d.send(b, call{path: "/api/events?kinds=notice", secret: readSecret})
		lines := bufio.NewScanner(resp.Body)
		lines.Scan() // there is a cursor, so the reader is known
		done := make(chan struct{})
		go func() { // ends with the stream, which the cleanup ends
			defer close(done)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "data:") {
					got.Done()
				}
			}
		}()
		b.Cleanup(func() { _ = resp.Body.Close(); <-done })
	}
	b.ReportAllocs()
	for b.Loop() {
		got.Add(readers)
		d.mu.Lock()
		d.emit(chela.Event{Kind: chela.EventNotice, Session: "agent:main:main", Text: "tick"})
		d.mu.Unlock()
		got.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/readers, "ns/reader")
}
