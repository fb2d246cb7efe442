package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
	done    chan ending
}

// An ending is how a run ended.
type ending struct {
	report   worker.Report
	err      error // why there is no report
	timedOut bool
}

// pipes are the ends of a worker's pipes: ours, and those it inherits.
type pipes struct {
	control, report, output       *os.File
	controlIn, reportOut, outputs *os.File
}

func openPipes() (p pipes, err error) {
	for _, pair := range []struct{ read, write **os.File }{
		{&p.controlIn, &p.control}, {&p.report, &p.reportOut}, {&p.output, &p.outputs},
	} {
		if *pair.read, *pair.write, err = os.Pipe(); err != nil {
			p.close()
			return p, fmt.Errorf("open a pipe: %w", err)
		}
	}
	return p, nil
}

func (p pipes) closeInherited() {
	for _, f := range []*os.File{p.controlIn, p.reportOut, p.outputs} {
		_ = f.Close() // the worker has its own copy; nil is refused quietly
	}
}

func (p pipes) close() {
	p.closeInherited()
	for _, f := range []*os.File{p.control, p.report, p.output} {
		_ = f.Close() // nothing was written that could be lost
	}
}

// start starts a worker on the order. Its output goes to output, which is
// closed when the run is over.
func start(o worker.RunRequest, output *sandbox.Output) (*run, error) {
	p, err := openPipes()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", worker.Args()...) //nolint:noctx // wait stops it, in steps
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = p.outputs, p.outputs
	cmd.ExtraFiles = []*os.File{p.controlIn, p.reportOut}
	cmd.SysProcAttr = attributes(o)
	if err := cmd.Start(); err != nil {
		p.close()
		return nil, fmt.Errorf("start a sandbox worker: %w", err)
	}
	p.closeInherited()
	r := &run{cmd: cmd, control: p.control, done: make(chan ending, 1)}
	// wait waits for this goroutine, and it for the one it begins.
	go func() { r.done <- r.follow(o, p, output) }()
	return r, nil
}

// attributes returns how the worker is cloned: in a session of its own, out of
// reach of the terminal's signals, and in its namespaces. Users keep their own
// id inside, so that files keep their owner.
func attributes(o worker.RunRequest) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if o.Tier != worker.Namespaces {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !o.Network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	uid, gid := os.Getuid(), os.Getgid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// Capabilities that the worker needs to build the new root and then to drop
	// all capabilities. They apply in its own user namespace only.
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	return attr
}

// follow gives the worker its order and reads all it has to say, until it is
// gone.
func (r *run) follow(o worker.RunRequest, p pipes, output *sandbox.Output) ending {
	defer p.report.Close()
	defer p.output.Close()
	defer output.Close()
	sent := json.NewEncoder(p.control).Encode(o)
	copied := make(chan struct{})
	go func() { // the receive below waits for it
		defer close(copied)
		_, _ = io.Copy(output, p.output) // ends with the pipe, or at the deadline
	}()
	var e ending
	e.err = errors.Join(sent, json.NewDecoder(p.report).Decode(&e.report))
	if err := r.cmd.Wait(); err != nil {
		e.err = errors.Join(e.err, err)
	}
	// Everything that could write is gone by now. Should something have got
	// away, the result does not wait for it.
	_ = p.output.SetReadDeadline(time.Now().Add(patience))
	<-copied
	return e
}

// wait returns how the run ended. It stops the run when ctx ends or timeout is
// over; 0 means that only ctx limits it.
func (r *run) wait(ctx context.Context, timeout time.Duration) ending {
	defer r.control.Close()
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	timedOut := false
	select {
	case e := <-r.done:
		return e
	case <-ctx.Done():
	case <-over:
		timedOut = true
	}
	_ = r.control.Close() // the worker reads the end and kills everything
	select {
	case e := <-r.done:
		e.timedOut = timedOut
		return e
	case <-time.After(patience):
	}
	_ = r.cmd.Process.Kill() // it may have ended just now
	e := <-r.done
	e.timedOut = timedOut
	return e
}
