//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group puts a command into a process group of its own. The end of its context
// kills the whole group, as killGroup does.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
}

// killGroup kills the processes that are left of a command that was started.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
