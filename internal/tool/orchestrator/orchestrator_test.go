package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/tool/orchestrator"
)

// TestWorkerDrivesTurn: every step of a turn goes through the one worker of its
// job.
func TestWorkerDrivesTurn(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	m := model{&counter{}}
	if err := f.ask(m); err != nil {
		t.Fatal(err)
	}
	f.must("write_file", map[string]any{"path": "a.txt", "content": "one\n"})
	f.must("apply_patch", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})
	if got := f.must("shell", map[string]any{"command": "cat a.txt; echo more >> a.txt"}); !strings.Contains(got, "two") {
		t.Errorf("shell: %q", got)
	}
	if got := f.must("read_file", map[string]any{"path": "a.txt"}); !strings.Contains(got, "more") {
		t.Errorf("read_file: %q", got)
	}
	f.must("note", nil)
	started, open := f.engine.counts()
	if m.n != 1 || f.host.n != 1 || f.read("a.txt") != "two\nmore\n" || started != 1 || open != 1 {
		t.Errorf("%d requests, %d notes, %q, %d workers started, %d open", m.n, f.host.n, f.read("a.txt"), started, open)
	}
	if res, err := f.call(t.Context(), "read_file", map[string]any{"path": "none"}); err != nil || !res.Failed {
		t.Errorf("a file that is not there: %+v %v", res, err)
	}
}

// TestOthersAreLeftAlone: sessions of people run as before.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	tl := f.tools["note"]
	for _, key := range []chela.SessionKey{"agent:main:main", "agent:main:subagent:job_2", ""} {
		if _, err := tl.Run(t.Context(), chela.ToolCall{Session: key}); err != nil {
			t.Error(err)
		}
	}
	if started, _ := f.engine.counts(); started != 0 || f.host.n != 3 {
		t.Errorf("%d workers for %d calls", started, f.host.n)
	}
}

// TestWorkerKilled: a worker that is killed at any message of a turn of 50 calls
// is replaced, and no effect is lost or made twice: a call is done once, or
// reported as unknown.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			killedTurn(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func killedTurn(t *testing.T, random *rand.Rand) {
	f := setup(t, orchestrator.Config{})
	f.engine.cut = func() int { return 20 + random.IntN(60) }
	m, unknown := model{&counter{}}, 0
	f.must("write_file", map[string]any{"path": "patched", "content": "0\n"})
	for i := range 50 {
		if err := f.ask(m); err != nil {
			t.Fatal(err)
		}
		switch i % 5 {
		case 0, 1:
			res, err := f.call(t.Context(), "shell", map[string]any{"command": fmt.Sprintf("echo %d >> log", i)})
			done := strings.Count("\n"+f.read("log"), fmt.Sprintf("\n%d\n", i))
			switch {
			case err != nil || res.Failed && !res.Unknown:
				t.Fatalf("call %d: %+v %v", i, res, err)
			case res.Unknown && done > 1, !res.Unknown && done != 1:
				t.Errorf("call %d was done %d times: %q", i, done, res.Text)
			case res.Unknown:
				unknown++
			}
		case 2:
			f.must("write_file", map[string]any{"path": fmt.Sprintf("f%d", i), "content": fmt.Sprint(i)})
			if got := f.read(fmt.Sprintf("f%d", i)); got != fmt.Sprint(i) {
				t.Errorf("call %d wrote %q", i, got)
			}
		case 3:
			before := strings.TrimSpace(f.read("patched"))
			f.must("apply_patch", map[string]any{"path": "patched", "old_string": before, "new_string": fmt.Sprint(i)})
			if got := f.read("patched"); got != fmt.Sprintf("%d\n", i) {
				t.Errorf("call %d left %q", i, got)
			}
		case 4:
			f.must("note", nil)
		}
	}
	started, _ := f.engine.counts()
	if m.n != 50 || f.host.n != 10 || started < 3 {
		t.Errorf("%d requests, %d notes, %d workers", m.n, f.host.n, started)
	}
	t.Logf("%d workers, %d calls unknown", started, unknown)
}

// TestOutputArrivesWhileItRuns: people see the output of a command before it ends.
func TestOutputArrivesWhileItRuns(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	seen := ""
	f.output = func(text string) {
		if seen += text; strings.Contains(seen, "begun") { // the command waits for this file
			if err := os.WriteFile(filepath.Join(f.engine.dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	f.must("shell", map[string]any{"command": "echo begun; until test -e go; do :; done; echo ended"})
	if seen != "begun\nended\n" {
		t.Errorf("%q", seen)
	}
}

// TestCancelled: the end of a call's context ends the command in the container
// before the call returns.
func TestCancelled(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	f.must("note", nil)
	ctx, cancel := context.WithCancel(t.Context())
	stop := errors.New("stopped")
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := f.call(ctx, "shell", map[string]any{"command": "echo begun > begun; exec sleep 60"})
	if !errors.Is(err, context.Canceled) || errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	f.must("write_file", map[string]any{"path": "after", "content": "x"})
	if started, open := f.engine.counts(); started != 1 || open != 1 {
		t.Errorf("%d workers started, %d open", started, open)
	}
}

// TestNoEngine: without an engine nothing runs, and nothing falls back to another
// place.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	f.engine.refuse = chela.E(chela.Unsupported, "no container engine answers")
	m := model{&counter{}}
	if err := f.ask(m); chela.KindOf(err) != chela.Unsupported || m.n != 0 {
		t.Errorf("model: %v after %d requests", err, m.n)
	}
	res, err := f.call(t.Context(), "shell", map[string]any{"command": "echo x > x"})
	if err != nil || !res.Failed || !strings.Contains(res.Text, "no container engine answers") || f.read("x") != "" {
		t.Errorf("shell: %+v %v", res, err)
	}
}

// TestWorkerDiesAtOnce: a worker that never does a step is not started for ever.
func TestWorkerDiesAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	f.engine.worker = func(io.ReadWriter) error { return nil }
	if err := f.ask(model{&counter{}}); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("%v", err)
	}
	if started, open := f.engine.counts(); started != 3 || open != 0 {
		t.Errorf("%d workers started, %d open", started, open)
	}
}

// TestWorkerEnds: a worker is ended when its job is over, and after a time without
// steps; the next step starts another.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, orchestrator.Config{Idle: 10 * time.Second})
		f.must("note", nil)
		<-time.After(9 * time.Second)
		f.must("note", nil)
		if started, open := f.engine.counts(); started != 1 || open != 1 {
			t.Errorf("kept: %d workers started, %d open", started, open)
		}
		<-time.After(11 * time.Second)
		if _, open := f.engine.counts(); open != 0 {
			t.Error("the idle worker is left")
		}
		f.must("note", nil)
		f.o.End(session)
		synctest.Wait()
		if started, open := f.engine.counts(); started != 2 || open != 0 {
			t.Errorf("ended: %d workers started, %d open", started, open)
		}
		f.stop()
	})
}

// TestSilentWorkerIsKilled: a worker that hangs does not hold its job for ever.
func TestSilentWorkerIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, orchestrator.Config{})
		f.engine.worker = func(conn io.ReadWriter) error {
			_, err := io.Copy(io.Discard, conn)
			return err
		}
		if err := f.ask(model{&counter{}}); chela.KindOf(err) != chela.Unavailable {
			t.Errorf("%v", err)
		}
		f.stop()
	})
}

// TestStopped: the end of chela ends the worker, and a step that waits is left to
// the next start.
func TestStopped(t *testing.T) {
	t.Parallel()
	f := setup(t, orchestrator.Config{})
	f.engine.worker = func(conn io.ReadWriter) error {
		_, err := io.Copy(io.Discard, conn)
		return err
	}
	asked := make(chan error, 1)
	go func() { asked <- f.ask(model{&counter{}}) }() // the receive below waits for it
	for started := 0; started == 0; started, _ = f.engine.counts() {
	}
	f.stop()
	if err := <-asked; !errors.Is(err, chela.ErrLater) {
		t.Errorf("the step: %v", err)
	}
	if err := f.ask(model{&counter{}}); !errors.Is(err, chela.ErrLater) {
		t.Errorf("a later step: %v", err)
	}
}
