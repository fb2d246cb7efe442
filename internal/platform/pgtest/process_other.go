//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
)

const (
	stopSignal     = "stop"
	continueSignal = "continue"
)

// An account is the current user.
type account struct{}

// findAccount refuses: the servers of this package listen on Unix sockets and
// are guarded by a Unix shell.
func findAccount() (account, error) { return account{}, errNoServer }

func (account) own(string) error { return nil }

func (account) detach(*exec.Cmd) {}

func (*Cluster) signal(string) error { return errors.ErrUnsupported }
