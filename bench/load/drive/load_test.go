package drive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/fake"
)

// setup serves the fake model and returns a load of it.
func setup(t *testing.T, cfg fake.Config) (drive.Load, *fake.Server) {
	t.Helper()
	s, err := fake.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, s), s
}

// serve serves anything and returns a load of it.
func serve(t *testing.T, h http.Handler) drive.Load {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return drive.Load{
		Target: drive.Target{URL: server.URL + "/v1", Model: fake.Model}, Sessions: 4, Turns: 40, Now: time.Now,
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			t.Parallel()
			l, s := setup(t, fake.Config{Chunks: 3})
			l.Stream, l.Warmup, l.Disk = stream, .5, t.TempDir()
			r, err := l.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Turns != 40 || r.Failed() != 0 || r.Took.Count != 40 || r.PerSecond <= 0 || r.Took.P50 <= 0 {
				t.Errorf("report %+v", r)
			}
			if streamed := r.First.Count == 40; streamed != stream {
				t.Errorf("%d first texts", r.First.Count)
			}
			if got := s.Requests(); got != 1+20+40 {
				t.Errorf("%d requests for a first turn, a warm-up of 20 and 40 turns", got)
			}
		})
	}
}

func TestRunLooksAtProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	l, _ := setup(t, fake.Config{})
	l.PID = os.Getpid()
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Resident == 0 || r.Peak == 0 || r.Files == 0 {
		t.Errorf("report %+v", r)
	}
	l.PID = 1 << 30
	if _, err := l.Run(t.Context()); err == nil {
		t.Error("a process that cannot be was looked at")
	}
}

// TestRunAtRate shows that turns are due at fixed times, however slow the
// server is, and that waiting counts.
func TestRunAtRate(t *testing.T) {
	t.Parallel()
	l, _ := setup(t, fake.Config{Latency: 20 * time.Millisecond})
	l.Sessions, l.Turns, l.Duration, l.Rate = 1, 0, 200*time.Millisecond, 100
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Turns != 20 || r.Seconds < .4 || r.Took.Max < 200 {
		t.Errorf("20 turns of 20 ms each, due within 0.2 s in one session: %+v", r)
	}
}

// A recorder notes the sessions of requests and answers rightly, but for those
// that fail wants otherwise.
type recorder struct {
	mu       sync.Mutex
	sessions map[string]int
	fail     func(w http.ResponseWriter, n int) bool
	n        int
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body struct {
		User     string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	r.sessions[body.User]++
	if r.fail == nil || !r.fail(w, r.n) {
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q}}]}`, body.Messages[0].Content)
	}
}

func TestSessionsFollowEachOther(t *testing.T) {
	t.Parallel()
	rec := &recorder{sessions: map[string]int{}}
	l := serve(t, rec)
	l.Sessions, l.SessionTurns, l.Turns, l.Prefix = 1, 3, 7, "s"
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"s-0-0": 3, "s-0-1": 3, "s-0-2": 2} // with the first turn, which is not measured
	if diff := cmp.Diff(want, rec.sessions); diff != "" {
		t.Errorf("turns of sessions (-want +got):\n%s", diff)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	write := func(status int, body string, headers ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for _, h := range headers {
				w.Header().Set(h, "1")
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for _, tt := range []struct {
		name    string
		answer  func(http.ResponseWriter)
		stream  bool
		want    map[string]int
		refused int
		unpaced int
	}{
		{name: "refused", answer: write(429, "later", "Retry-After"), want: map[string]int{"429": 5}, refused: 5},
		{name: "refused without a time", answer: write(429, "later"), want: map[string]int{"429": 5}, refused: 5, unpaced: 5},
		{name: "broken", answer: write(500, "broken"), want: map[string]int{"500": 5}},
		{
			name: "of another", answer: write(200, `{"choices":[{"message":{"content":"load-999"}}]}`),
			want: map[string]int{"wrong answer": 5},
		},
		{name: "no choice", answer: write(200, `{"choices":[]}`), want: map[string]int{"wrong answer": 5}},
		{name: "no JSON", answer: write(200, `hello`), want: map[string]int{"wrong answer": 5}},
		{name: "no end", answer: write(200, "data: {}\n\n"), stream: true, want: map[string]int{"cut short": 5}},
		{name: "half an event", answer: write(200, "data: {}"), stream: true, want: map[string]int{"cut short": 5}},
		{
			name: "an error in a stream", answer: write(200, "data: {\"error\":{}}\n\ndata: [DONE]\n\n"), stream: true,
			want: map[string]int{"wrong answer": 5},
		},
		{name: "no text", answer: write(200, "data: [DONE]\n\n"), stream: true, want: map[string]int{"wrong answer": 5}},
		{name: "no answer", answer: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, want: map[string]int{"no answer": 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := serve(t, &recorder{sessions: map[string]int{}, fail: func(w http.ResponseWriter, n int) bool {
				if n > 1 {
					tt.answer(w)
				} else if tt.stream {
					fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"load-1\"}}]}\n\ndata: [DONE]\n\n")
				}
				return n > 1 || tt.stream
			}})
			l.Sessions, l.Turns, l.Stream = 1, 5, tt.stream
			r, err := l.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.Errors); diff != "" || r.Turns != 0 || r.Failed() != 5 {
				t.Errorf("%d turns, errors (-want +got):\n%s", r.Turns, diff)
			}
			if r.Refused != tt.refused || r.Unpaced != tt.unpaced {
				t.Errorf("%d refused, %d without Retry-After", r.Refused, r.Unpaced)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s, err := fake.New(fake.Config{Latency: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	quick, err := fake.New(fake.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if quick.Requests() == 0 {
			quick.ServeHTTP(w, r)
		} else {
			s.ServeHTTP(w, r)
		}
	}))
	l.Sessions, l.Turns, l.Timeout = 1, 2, 300*time.Millisecond
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"timeout": 2}, r.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestRunThatCannotBe(t *testing.T) {
	t.Parallel()
	l, _ := setup(t, fake.Config{})
	endless := l
	endless.Turns = 0
	if _, err := endless.Run(t.Context()); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a load without an end: %v", err)
	}
	refused := serve(t, http.NotFoundHandler())
	if _, err := refused.Run(t.Context()); chela.KindOf(err) != chela.Unavailable || !strings.Contains(fmt.Sprint(err), "404") {
		t.Errorf("a server that refuses: %v", err)
	}
	nowhere := l
	nowhere.URL = "http://a b"
	if _, err := nowhere.Run(t.Context()); chela.KindOf(err) != chela.Invalid {
		t.Errorf("an address that is none: %v", err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	l, s := setup(t, fake.Config{})
	l.Turns, l.Duration = 0, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := l.Run(ctx)
		ended <- err
	}()
	for s.Requests() < 10 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a load that was interrupted reports as if it were whole")
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	slow, slowServer := setup(t, fake.Config{Latency: 5 * time.Millisecond})
	direct, directServer := setup(t, fake.Config{})
	slow.Turns, slow.Warmup = 10, .5
	o, err := drive.Compare(t.Context(), slow, direct.Target)
	if err != nil {
		t.Fatal(err)
	}
	if o.Through.Count != 10 || o.Direct.Count != 10 || o.Through.P50 < 5 || o.Added != o.Through.P50-o.Direct.P50 || o.Ratio <= 0 {
		t.Errorf("overhead %+v", o)
	}
	if slowServer.Requests() != 15 || directServer.Requests() != 15 {
		t.Errorf("%d and %d requests", slowServer.Requests(), directServer.Requests())
	}
	broken := serve(t, http.NotFoundHandler())
	if _, err := drive.Compare(t.Context(), slow, broken.Target); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("straight to where there is nothing: %v", err)
	}
}

func TestSoak(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	l, _ := setup(t, fake.Config{})
	l.Turns, l.Duration, l.PID, l.Disk = 0, 300*time.Millisecond, os.Getpid(), t.TempDir()
	var progress strings.Builder
	s, err := l.Soak(t.Context(), &progress, 20*time.Millisecond, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Samples); n < 3 || strings.Count(progress.String(), "\n") != n || s.Turns == 0 || s.Growth <= 0 {
		t.Errorf("soak %+v\n%s", s, &progress)
	}
	l.PID = 0
	if _, err := l.Soak(t.Context(), &progress, time.Second, time.Second); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a soak without a process: %v", err)
	}
	l.PID, l.Duration = 1<<30, time.Hour
	if _, err := l.Soak(t.Context(), &progress, time.Millisecond, time.Second); err == nil {
		t.Error("a soak went on without its process")
	}
}
