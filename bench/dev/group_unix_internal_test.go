//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestChildrenEndWithTheirTest: a process that a test started does not outlive a
// mutant that is killed.
func TestChildrenEndWithTheirTest(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	if err := syscall.Mkfifo(ended, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(ended, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	t.Setenv("ENDED", ended)
	p := drawAll(t, `package decide

func Open(n int) bool { return n == 1 }
`, `package decide

import (
	"os/exec"
	"testing"
)

func TestOpen(t *testing.T) {
	if !Open(1) {
		if err := exec.Command("sh", "-c", "exec 3>$ENDED; exec sleep 600").Start(); err != nil {
			t.Fatal(err)
		}
		<-make(chan bool)
	}
}
`)
	p.drawn = p.drawn[:1]
	if got := missed(t, p, time.Second); len(got) > 0 {
		t.Errorf("survivors: %q", got)
	}
	// The end of the pipe is reached once no process has it open for writing.
	if err := pipe.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(pipe); err != nil {
		t.Errorf("the child lives on: %v", err)
	}
}
