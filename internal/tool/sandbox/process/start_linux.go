package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chela/internal/safety/egress"
	"chela/internal/tool/sandbox"
	"chela/internal/tool/worker"
)

// patience is how long a worker may take to kill all processes after a stop,
// before it is killed itself.
const patience = 5 * time.Second

// A run is a worker that was started.
type run struct {
	cmd     *exec.Cmd
	control *os.File // its closing tells the worker to stop
	report  *os.File
	network *net.UnixConn // over which the worker passes its listener; nil for an order without a network
	stopped bool          // it was told so, because ctx ended
}

// start starts a worker for an order. Its output goes to output. When ctx ends,
// it is told to kill everything.
func start(ctx context.Context, o worker.RunRequest, output *sandbox.Output) (*run, error) {
	controlIn, control, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	defer controlIn.Close() // the worker has its own copy
	report, reportOut, err := os.Pipe()
	if err != nil {
		_ = control.Close() // nothing was written that could be lost
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	defer reportOut.Close() // the worker has its own copy
	r := &run{cmd: exec.CommandContext(ctx, "/proc/self/exe", worker.Args()...), control: control, report: report}
	r.cmd.Env = []string{}
	r.cmd.Dir = "/"
	r.cmd.Stdout, r.cmd.Stderr = output, output
	r.cmd.ExtraFiles = []*os.File{controlIn, reportOut}
	if o.Network {
		var there *os.File
		if r.network, there, err = networkPair(); err != nil {
			r.close()
			return nil, err
		}
		defer there.Close() // the worker has its own copy
		r.cmd.ExtraFiles = append(r.cmd.ExtraFiles, there)
	}
	r.cmd.SysProcAttr = attributes(o)
	r.cmd.Cancel = func() error {
		r.stopped = true
		return control.Close()
	}
	r.cmd.WaitDelay = patience
	if err := r.cmd.Start(); err != nil {
		r.close()
		return nil, fmt.Errorf("start a sandbox worker: %w", err)
	}
	return r, nil
}

func (r *run) close() {
	_ = r.control.Close() // nothing was written that could be lost
	_ = r.report.Close()
	if r.network != nil {
		_ = r.network.Close()
	}
}

// attributes returns how the worker is cloned: in a session of its own, out of
// reach of the terminal's signals, and in its namespaces. Users keep their own
// id inside, so that files keep their owner.
func attributes(o worker.RunRequest) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if o.Tier != worker.Namespaces {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET
	uid, gid := os.Getuid(), os.Getgid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// Capabilities that the worker needs to build the new root and then to drop
	// all capabilities. They apply in its own user namespace only.
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	if o.Network {
		attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_NET_ADMIN) // to bring up its loopback interface
	}
	return attr
}

// wait gives the worker its order and returns its report when it is gone, and all
// that could write to its output. Should something have got away, the result
// does not wait for it.
func (r *run) wait(ctx context.Context, o worker.RunRequest, network *egress.Run) (report worker.Report, err error) {
	defer r.close()
	err = json.NewEncoder(r.control).Encode(o)
	stop := func() error { return nil }
	if r.network != nil && err == nil {
		stop = serveNetwork(ctx, r.network, network)
	}
	err = errors.Join(err, json.NewDecoder(r.report).Decode(&report))
	if served := stop(); report.Failure == "" {
		err = errors.Join(err, served)
	}
	if ended := r.cmd.Wait(); !errors.Is(ended, exec.ErrWaitDelay) {
		err = errors.Join(err, ended)
	}
	return report, err
}
