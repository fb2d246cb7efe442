//go:build linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chela/internal/tool/sandbox"
)

// ready waits for the spare worker and returns its process.
func (s *Sandbox) ready() int {
	for {
		s.spare.starting.Wait()
		s.spare.mu.Lock()
		r := s.spare.worker
		s.spare.mu.Unlock()
		if r != nil {
			return r.cmd.Process.Pid
		}
	}
}

// awaitsOrder waits until a worker reads its order: between the steps of a turn it has
// the time to start.
func awaitsOrder(t testing.TB, pid int) {
	t.Helper()
	reading := fmt.Sprintf("%d 0x3 ", syscall.SYS_READ)
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("worker %d does not read its order: %v", pid, err)
		}
		for _, name := range threads {
			if text, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(text), reading) {
				return
			}
		}
	}
}

func openWarm(t testing.TB) *Sandbox {
	t.Helper()
	s := New(Config{Warm: true})
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Check(t.Context()); err != nil {
		t.Skip(err)
	}
	return s
}

func (s *Sandbox) must(t testing.TB, spec sandbox.Spec, want string) {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = t.TempDir()
	}
	if res, err := s.Run(t.Context(), spec); err != nil || res.Output != want {
		t.Errorf("%q: %+v %v", spec.Command, res, err)
	}
}

// TestSpareWorker: a command gets the worker that waits for it, and each worker runs
// one command; a worker that died is not used, and none is left.
func TestSpareWorker(t *testing.T) {
	t.Parallel()
	s := openWarm(t)
	s.must(t, sandbox.Spec{Command: "echo one; echo x > /tmp/x"}, "one\n")
	first := s.ready()
	s.must(t, sandbox.Spec{Command: "echo $X; ls /tmp", Env: map[string]string{"X": "two"}}, "two\n")
	second := s.ready()
	if first == second || syscall.Kill(first, 0) == nil {
		t.Errorf("worker %d was not used, or is left", first)
	}
	if res, err := s.Run(t.Context(), sandbox.Spec{Command: "sleep 60", Workspace: t.TempDir(), Timeout: 50 * time.Millisecond}); err != nil || !res.TimedOut {
		t.Errorf("timeout: %+v %v", res, err)
	}
	s.ready()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Run(ctx, sandbox.Spec{Command: "echo; sleep 60", Workspace: t.TempDir(), Output: func(string) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: %v", err)
	}
	dead := s.ready()
	if err := syscall.Kill(dead, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for s.spare.worker.lives() { // the kernel takes a moment
	}
	s.must(t, sandbox.Spec{Command: "echo three"}, "three\n")
	last := s.ready()
	if err := s.Close(); err != nil || syscall.Kill(last, 0) == nil || syscall.Kill(dead, 0) == nil {
		t.Errorf("workers are left after Close: %v", err)
	}
	s.must(t, sandbox.Spec{Command: "echo four"}, "four\n")
}

// BenchmarkWarm measures a command that finds a worker waiting, as between the steps
// of a turn, without and with a home folder and the mounts of a developer's PATH.
func BenchmarkWarm(b *testing.B) {
	for _, mounts := range []int{0, 8, 32} {
		b.Run(fmt.Sprintf("mounts=%d", mounts), func(b *testing.B) { benchmarkWarm(b, mounts) })
	}
}

func benchmarkWarm(b *testing.B, mounts int) {
	s := openWarm(b)
	spec := sandbox.Spec{Command: "true", Workspace: b.TempDir()}
	if mounts > 0 {
		var tools sandbox.Tools
		for range mounts {
			dir := b.TempDir()
			tools.Mounts = append(tools.Mounts, sandbox.Mount{Host: dir, Path: dir})
		}
		s.cfg.Tools = func() (sandbox.Tools, error) { return tools, nil }
		spec.Home = b.TempDir()
	}
	var took []time.Duration
	for range b.N {
		s.must(b, spec, "")
		awaitsOrder(b, s.ready())
		began := time.Now()
		s.must(b, spec, "")
		took = append(took, time.Since(began))
		s.ready()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(0, "ns/op")
}
