package edge_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// memory keeps keyed requests without a database. A request whose process died is
// one that was never settled.
type memory struct {
	mu   sync.Mutex
	kept map[string]chela.KeyedRequest // guarded by mu
	fail error                         // of Settle
}

// Claim adds a request, or returns the one under its key.
func (m *memory) Claim(_ context.Context, q chela.KeyedRequest, fresh bool) (chela.KeyedRequest, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.kept[q.Key]; ok && !fresh && found.State != chela.RequestFailed {
		return found, false, nil
	}
	if m.kept == nil {
		m.kept = map[string]chela.KeyedRequest{}
	}
	m.kept[q.Key] = q
	return q, true, nil
}

// Settle stores the end of a request.
func (m *memory) Settle(_ context.Context, q chela.KeyedRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.kept[q.Key] = q
	return nil
}

// local returns a handler of routes and a function that sends it a POST under a
// key, without a connection.
func local(t *testing.T, cfg edge.Config, routes ...edge.Route) func(ctx context.Context, path string) *httptest.ResponseRecorder {
	t.Helper()
	s, err := edge.New(cfg, routes)
	if err != nil {
		t.Fatal(err)
	}
	h := s.Handler()
	return func(ctx context.Context, path string) *httptest.ResponseRecorder {
		q := httptest.NewRequestWithContext(ctx, http.MethodPost, path, nil)
		q.Host = "localhost"
		q.Header.Set("Authorization", "Bearer ann")
		q.Header.Set(api.MessageIDHeader, "k")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w
	}
}

// TestSameKeyWaits: a request whose key is held waits for the end of the holder and
// gets its answer; a client that leaves ends the wait of its own request only.
func TestSameKeyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config(io.Discard)
		cfg.Requests = &memory{}
		runs, goOn := 0, make(chan bool)
		post := local(t, cfg, route(http.MethodPost, "/x", func(v *edge.Visit) error {
			runs++
			<-goOn
			return v.Answer(http.StatusCreated, runs)
		}))
		answers := make([]*httptest.ResponseRecorder, 3)
		leaves, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i, ctx := range []context.Context{t.Context(), t.Context(), leaves} {
			all.Go(func() { answers[i] = post(ctx, "/x") })
			synctest.Wait() // it is served, or waits
		}
		leave()
		synctest.Wait()
		if answers[2] == nil {
			t.Error("the request of a client that left still waits")
		}
		if answers[0] != nil || answers[1] != nil {
			t.Error("a request was answered before the holder ended")
		}
		close(goOn)
		all.Wait()
		for _, got := range answers[:2] {
			if got.Code != http.StatusCreated || got.Body.String() != "1\n" {
				t.Errorf("answered %d %q", got.Code, got.Body)
			}
		}
		if runs != 1 {
			t.Errorf("carried out %d times", runs)
		}
	})
}

// TestRequestsOfProcessesThatDied: a request that was begun and never settled is
// refused, unless its handler may be called again.
func TestRequestsOfProcessesThatDied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		repeat api.Repeat
		status int // of the second request
		runs   int
	}{
		{"plain", api.Answered, http.StatusConflict, 1},
		{"secret", api.Secret, http.StatusConflict, 1},
		{"joined", api.Joined, http.StatusOK, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log lockedLog
			cfg := config(&log)
			died := &memory{fail: errors.New("the process died")}
			cfg.Requests = died
			var names []string
			row := route(http.MethodPost, "/x", func(v *edge.Visit) error {
				if c.repeat == api.Joined {
					if answered, err := v.Alone(); answered || err != nil {
						return err
					}
				}
				names = append(names, v.Once())
				v.Keep()
				return v.OK("done")
			})
			row.Repeat = c.repeat
			post := local(t, cfg, row)
			if got := post(t.Context(), "/x"); got.Code != http.StatusOK {
				t.Fatalf("answered %d %s", got.Code, got.Body)
			}
			const message = "keyed request cannot be settled"
			if n := strings.Count(log.String(), message); n != 1 {
				t.Errorf("the log names the failure %d times:\n%s", n, log.String())
			}
			died.fail = nil
			if got := post(t.Context(), "/x"); got.Code != c.status {
				t.Errorf("the second request: %d %s, want %d", got.Code, got.Body, c.status)
			}
			if len(names) != c.runs || names[0] == "" || names[0] != names[len(names)-1] {
				t.Errorf("carried out as %q, want %d times under one name", names, c.runs)
			}
			if c.repeat == api.Joined {
				if got := post(t.Context(), "/x"); got.Header().Get(api.RepeatedHeader) == "" || len(names) != c.runs {
					t.Errorf("the third request: %d, header %v, carried out as %q", got.Code, got.Header(), names)
				}
			}
			if n := strings.Count(log.String(), message); n != 1 {
				t.Errorf("the log names %d failures, want 1", n)
			}
		})
	}
}

// TestRevokedRequestsEnd: revocation ends the waiting requests of a token, and
// neither those of others nor those of the owner.
func TestRevokedRequestsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		row := route(http.MethodGet, "/x", func(v *edge.Visit) error {
			<-v.Request.Context().Done()
			return context.Cause(v.Request.Context())
		})
		row.Long = true
		s, err := edge.New(config(io.Discard), []edge.Route{row})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		status := map[string]int{}
		var mu sync.Mutex // guards status
		var all sync.WaitGroup
		for name, h := range map[string]http.Handler{"ann": s.Handler(), "bob": s.Handler(), "": s.SocketHandler()} {
			q := httptest.NewRequestWithContext(ctx, http.MethodGet, "/x", nil)
			q.Host = "localhost"
			if name != "" {
				q.Header.Set("Authorization", "Bearer "+name)
			}
			all.Go(func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, q)
				mu.Lock()
				defer mu.Unlock()
				status[name] = w.Code
			})
		}
		synctest.Wait()
		s.Revoke(func(by edge.Asker) bool { return by.Secret != "bob" })
		synctest.Wait()
		if len(status) != 1 || status["ann"] != http.StatusForbidden {
			t.Errorf("ended with %v, want ann alone with 403", status)
		}
		cancel()
		all.Wait()
	})
}
