//go:build !unix

package local

import (
	"os"
	"os/exec"
)

// Group does nothing: only the command's own process is killed on a timeout.
func Group(*exec.Cmd) {}

// KillGroup does nothing, as there is no process group.
func KillGroup(*exec.Cmd) error { return os.ErrProcessDone }
