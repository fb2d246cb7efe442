//go:build unix

package gateway_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"chela/internal/surface/gateway"
)

// inherit starts a process that has a file open, as the child of a killed daemon has
// between fork and exec, and returns what ends it.
func inherit(t *testing.T, f *os.File) (end func()) {
	t.Helper()
	child := exec.CommandContext(t.Context(), "cat")
	child.ExtraFiles = []*os.File{f}
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout = io.Discard
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // as the daemon does that is killed
		t.Fatal(err)
	}
	return func() {
		if err := input.Close(); err != nil {
			t.Error(err)
		}
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestInheritedListenerIsWaitedFor: a daemon listens right after
// another one was killed, though a child of that one still has the listener.
func TestInheritedListenerIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	end, waits := inherit(t, f), 0
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := gateway.ListenTCP(t.Context(), l.Addr().String(), func(context.Context, time.Duration) error {
		if waits++; waits == 3 {
			end()
		}
		return nil
	})
	if err != nil || waits != 3 {
		t.Fatalf("after %d waits: %v", waits, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
