//go:build unix

package hook

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group puts a command into a process group of its own, which is killed as a
// whole when its time is over.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
}

// killGroup kills what is left of a group.
func killGroup(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
