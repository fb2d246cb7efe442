//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)

// An account is the user that the server runs as: nil for the current user, but
// an ordinary user if that is root, because PostgreSQL refuses to run as root.
type account struct{ credential *syscall.Credential }

func findAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return account{}, fmt.Errorf("find a user to run PostgreSQL as: %w", err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return account{}, err
	}
	return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// own hands dir to the account.
func (a account) own(dir string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid))
}

// detach makes cmd run as the account and in a session of its own, which the
// interrupt of a terminal does not reach.
func (a account) detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential, Setsid: true}
}

// signal sends s to the server's first process and then to its children: once
// the first one is frozen it forks no more.
func (c *Cluster) signal(s syscall.Signal) error {
	file, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := bytes.Cut(file, []byte("\n"))
	first, err := strconv.Atoi(string(line))
	if err != nil {
		return err
	}
	if err := syscall.Kill(first, s); err != nil {
		return err
	}
	children, err := childrenOf(first)
	if err != nil {
		return err
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// childrenOf reads /proc, which Linux has.
func childrenOf(parent int) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no processes in /proc: %w", errors.ErrUnsupported))
	}
	var children []int
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it ended in between
		}
		// pid (name) state parent …, where the name may hold anything.
		rest := stat[bytes.LastIndexByte(stat, ')')+1:]
		if fields := bytes.Fields(rest); len(fields) < 2 || string(fields[1]) != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		children = append(children, pid)
	}
	return children, nil
}
