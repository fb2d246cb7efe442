//go:build !unix

package hook

import (
	"os"
	"os/exec"
)

// group leaves a command as it is: its own process is killed when its time is
// over.
func group(*exec.Cmd) {}

// killGroup does nothing, as there is no group.
func killGroup(int) error { return os.ErrProcessDone }
