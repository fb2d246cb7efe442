package hook_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/hook"
)

// A rig is hooks and what they told.
type rig struct {
	*testing.T
	hooks *hook.Hooks
	log   *lockedBuffer

	mu     sync.Mutex
	events []chela.Event // guarded by mu
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T, specs ...hook.Spec) *rig {
	t.Helper()
	r := &rig{T: t, log: &lockedBuffer{}}
	var err error
	r.hooks, err = hook.New(specs, hook.Config{
		Now: time.Now, Emit: r.emit, Log: slog.New(slog.NewTextHandler(r.log, nil)), Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) emit(e chela.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// told returns the notices so far.
func (r *rig) told() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		texts = append(texts, e.Text)
	}
	return texts
}

func (r *rig) fire(m hook.Moment) hook.Verdict { return r.hooks.Fire(context.Background(), m) }

// serve returns the address of a server on this machine.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
