package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stack returns where the stack of a process lies, which holds its environment.
func stack(pid string) (from, to uint64, err error) {
	f, err := os.Open("/proc/" + pid + "/maps")
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), "[stack]") {
			_, err = fmt.Sscanf(lines.Text(), "%x-%x", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, fmt.Errorf("process %s has no stack", pid)
}

// search prints the variables of the suite in memory that get reads.
func search(how, pid string, get func(from uint64, b []byte) error) {
	from, to, err := stack(pid)
	if err == nil {
		b := make([]byte, min(to-from, 16<<10))
		if err = get(to-uint64(len(b)), b); err == nil {
			for _, part := range bytes.Split(b, []byte{0}) {
				if bytes.Contains(part, []byte("ESCAPE_")) {
					fmt.Printf("found %q\n", part)
				}
			}
		}
	}
	fmt.Printf("tried %s of %s: %v\n", how, pid, err)
}

func memory(args []string) {
	for _, pid := range args {
		search("/proc/PID/mem", pid, func(from uint64, b []byte) error {
			f, err := os.Open("/proc/" + pid + "/mem")
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.ReadAt(b, int64(from))
			return err
		})
	}
}

func vmRead(args []string) {
	for _, pid := range args {
		search("process_vm_readv", pid, func(from uint64, b []byte) error {
			local := []unix.Iovec{{Base: &b[0]}}
			local[0].SetLen(len(b))
			_, err := unix.ProcessVMReadv(number(pid), local, []unix.RemoteIovec{{Base: uintptr(from), Len: len(b)}}, 0)
			return err
		})
	}
}

func trace(args []string) {
	runtime.LockOSThread()
	for _, pid := range args {
		search("ptrace", pid, func(from uint64, b []byte) error {
			n := number(pid)
			if err := unix.PtraceAttach(n); err != nil {
				return err
			}
			defer unix.PtraceDetach(n)
			var status unix.WaitStatus
			if _, err := unix.Wait4(n, &status, unix.WALL, nil); err != nil {
				return err
			}
			_, err := unix.PtracePeekData(n, uintptr(from), b)
			return err
		})
		fmt.Printf("tried PTRACE_SEIZE of %s: %v\n", pid, unix.PtraceSeize(number(pid)))
	}
}

// takeDescriptor copies descriptors of processes and reads them.
func takeDescriptor(args []string) {
	for _, pid := range args {
		p, err := unix.PidfdOpen(number(pid), 0)
		fmt.Printf("tried pidfd_open of %s: %v\n", pid, err)
		for n := 0; n < 10 && err == nil; n++ {
			fd, err := unix.PidfdGetfd(p, n, 0)
			fmt.Printf("tried pidfd_getfd of %s, %d: %v\n", pid, n, err)
			if err == nil {
				unix.SetNonblock(fd, true)
				read("descriptor", fd)
			}
		}
	}
}

// signals kills processes by id, and by pidfd.
func signals(args []string) {
	for _, pid := range args {
		fmt.Printf("tried kill of %s: %v\n", pid, unix.Kill(number(pid), unix.SIGKILL))
		fmt.Printf("tried tgkill of %s: %v\n", pid, unix.Tgkill(number(pid), number(pid), unix.SIGKILL))
		if fd, err := unix.PidfdOpen(number(pid), 0); err == nil {
			fmt.Printf("tried pidfd_send_signal of %s: %v\n", pid, unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0))
		}
	}
}

// limits changes how other processes run.
func limits(args []string) {
	for _, text := range args {
		pid := number(text)
		fmt.Println("tried setpriority:", unix.Setpriority(unix.PRIO_PROCESS, pid, 19))
		fmt.Println("tried prlimit:", unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 3}, nil))
		fmt.Println("tried oom_score_adj:", os.WriteFile("/proc/"+text+"/oom_score_adj", []byte("1000"), 0))
	}
}

// overwriteExe opens the programs of processes for writing, also after they ended.
func overwriteExe(args []string) {
	var held []int
	for _, pid := range append(pids(), args[1:]...) {
		path := "/proc/" + pid + "/exe"
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		fmt.Printf("tried %s: %v\n", path, err)
		if err == nil {
			_, err = unix.Pwrite(fd, []byte("escaped"), 0)
			fmt.Printf("tried to write %s: %v\n", path, err)
		}
		if fd, err := unix.Open(path, unix.O_PATH, 0); err == nil {
			held = append(held, fd)
		}
	}
	for _, fd := range held {
		f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("escaped")
		}
		fmt.Printf("tried to reopen %d: %v\n", fd, err)
	}
	f, err := os.OpenFile(args[0], os.O_RDWR|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString("escaped")
	}
	fmt.Printf("tried %s: %v\n", args[0], err)
}

// stay leaves processes behind that ignore signals, have sessions of their own and
// hold no descriptor.
func stay(args []string) {
	for range 8 {
		cmd := exec.Command("/bin/sh", "-c", `trap "" TERM HUP INT; sleep "$0" & sleep "$0"`, args[0])
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		fmt.Println("left a process:", cmd.Start())
	}
}

// threads starts as many threads as it can.
func threads([]string) {
	block := make(chan struct{})
	for range 100_000 {
		go func() {
			runtime.LockOSThread()
			<-block
		}()
	}
	<-block
}

// typeInto puts a line into the input of a terminal, and writes to it.
func typeInto(args []string) {
	for _, path := range []string{args[0], "/dev/tty", "/proc/1/fd/0", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"} {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		for i := 0; i < len(args[1]) && err == nil; i++ {
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(unsafe.StringData(args[1][i:]))))
			if errno != 0 {
				err = errno
			}
		}
		fmt.Printf("tried TIOCSTI on %s: %v\n", path, err)
	}
	f, err := os.OpenFile(args[0], os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(args[1])
	}
	fmt.Printf("tried to write to %s: %v\n", args[0], err)
}
