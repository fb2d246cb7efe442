//go:build unix

package local

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Group starts a command in a process group of its own. The end of its context
// kills the whole group, as KillGroup does.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return KillGroup(cmd) }
}

// KillGroup kills the remaining processes of the group of a command that was
// started. It returns os.ErrProcessDone if there are none.
func KillGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
