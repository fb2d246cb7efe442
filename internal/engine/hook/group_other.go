//go:build !unix

package hook

import (
	"os"
	"os/exec"
)

// group does nothing: only the command's own process is killed on a timeout.
func group(*exec.Cmd) {}

// killGroup does nothing, as there is no process group.
func killGroup(int) error { return os.ErrProcessDone }
