package worker

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spareThreads is more than the worker needs at one time.
const spareThreads = 8

// spare makes threads for later. Once the command has used up the processes
// it may have, there may be none left for the worker, and Go ends a process
// that needs a thread and gets none.
func spare() {
	var here, gone sync.WaitGroup
	release := make(chan struct{})
	for range spareThreads {
		here.Add(1)
		gone.Go(func() { // Wait below waits for it
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			<-release
		})
	}
	here.Wait()
	close(release)
	gone.Wait()
}

// launch starts the order's shell, confined, and returns its process id.
func launch(o Order, p places) (int, error) {
	var pid int
	var err error
	done := make(chan struct{})
	// The receive below waits for this goroutine. It never unlocks its thread,
	// so the confined thread ends with it: a thread of the worker in the
	// command's own domain would be a handle by which to reach the worker.
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The main thread does not end with its goroutine. It is held
			// here, so that the next goroutine gets another.
			defer runtime.UnlockOSThread()
			pid, err = launch(o, p)
			return
		}
		pid, err = confineAndStart(o, p)
	}()
	<-done
	return pid, err
}

// confineAndStart confines the calling thread for good and forks the shell
// from it.
func confineAndStart(o Order, p places) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("open the null device: %w", err)
	}
	defer null.Close()
	restore, err := setLimits(o)
	if err != nil {
		return 0, err
	}
	defer restore()
	if err := confine(o, p); err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(p.shell, p.argv(o.Command), &syscall.ProcAttr{
		Dir:   p.dir,
		Env:   p.environ(o),
		Files: []uintptr{null.Fd(), 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s in %s: %w", p.shell, p.dir, err)
	}
	return pid, nil
}

// confine takes from the calling thread, and from all it forks, every right
// that the order does not give. No step can be undone.
func confine(o Order, p places) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if o.Tier == Off {
		return nil
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	abi, err := LandlockABI()
	if err != nil {
		return err
	}
	if err := restrictFiles(abi, o, p); err != nil {
		return err
	}
	calls, err := installFilter(filterFor(o, abi))
	if err != nil || calls < 0 {
		return err
	}
	// Nothing waits for the deputy: it ends with the last process under the
	// filter, or with the worker.
	go deputy{within: []string{p.workspace, p.tmp}}.serve(calls)
	return nil
}
