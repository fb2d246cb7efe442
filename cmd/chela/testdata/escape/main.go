// Command escape is the attacker's program of the escape suite: it is placed in a
// workspace and tries one way out of the sandbox. It prints each attempt with its
// error, and "escaped: " with the attempt where the kernel let it.
//
// The suite starts it outside of the sandbox too, to prepare the targets.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	run := attempts[os.Args[1]]
	if run == nil {
		fmt.Println("no such attempt:", os.Args[1])
		os.Exit(2)
	}
	run(os.Args[2:])
}

// attempts are the ways out, by the first argument.
var attempts = map[string]func(args []string){
	// Reading.
	"roots": roots, "fds": descriptors, "handle": byHandle, "filehandle": fileHandle, "keys": searchKeys, "addkey": addKey, "dropkey": dropKey, "shm": sharedMemory, "shmmake": makeSharedMemory, "shmdrop": dropSharedMemory,
	// Processes.
	"mem": memory, "vmread": vmRead, "ptrace": trace, "pidfd": takeDescriptor, "signals": signals, "limits": limits, "exe": overwriteExe, "stay": stay, "threads": threads, "hold": hold,
	// The kernel.
	"mount": mounts, "remount": remount, "newmount": newMount, "chroot": chroot, "unshare": unshare, "setns": enter, "call": calls, "tiocsti": typeInto, "module": module,
	// Connections.
	"tcp": dial("tcp"), "tcp6": dial("tcp6"), "udp": dial("udp"), "unix": dial("unix"), "rights": receiveRights, "packet": packet, "sockets": sockets, "listen": listen,
	// Resources and races.
	"fill": fill, "unlinked": unlinked, "files": manyFiles, "deep": deepFolders, "swap": swap, "linkrace": linkRace,
}

// tried prints an attempt, and that it succeeded if err is nil.
func tried(what string, err error) bool {
	if err != nil {
		fmt.Printf("tried %s: %v\n", what, err)
		return false
	}
	fmt.Println("escaped: " + what)
	return true
}

// show prints the beginning of a file that it could open.
func show(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		fmt.Printf("tried %s: %v\n", path, err)
		return
	}
	defer unix.Close(fd)
	read(path, fd)
}

func read(what string, fd int) {
	b := make([]byte, 4096)
	n, err := unix.Pread(fd, b, 0)
	if err != nil {
		n, err = unix.Read(fd, b)
	}
	fmt.Printf("read %s: %v %q\n", what, err, b[:max(n, 0)])
}

// variable is one of those that the suite planted.
var variable = regexp.MustCompile(`ESCAPE_[^\x00]*`)

// pids are the processes that it sees.
func pids() (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		found = append(found, filepath.Base(dir))
	}
	return found
}

// roots opens a path below the root and the working directory of every process, and
// of those with the ids it is told.
func roots(args []string) {
	for _, pid := range append(pids(), args[1:]...) {
		show("/proc/" + pid + "/root" + args[0])
		show("/proc/" + pid + "/cwd/../../../../../../../.." + args[0])
		raw, err := os.ReadFile("/proc/" + pid + "/environ")
		fmt.Printf("tried the environment of %s: %d, %v %q\n", pid, len(raw), err, variable.Find(raw))
	}
}

// descriptors opens a path from each inherited descriptor, and each descriptor of
// every process.
func descriptors(args []string) {
	up := strings.Repeat("../", 20)
	for n := range 256 {
		at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", n))
		if err != nil {
			continue
		}
		fmt.Printf("descriptor %d is %s\n", n, at)
		if fd, err := unix.Openat(n, up+args[0][1:], unix.O_RDONLY, 0); err == nil {
			read(at+" up", fd)
		}
	}
	for _, pid := range append(pids(), args[1:]...) {
		open, err := filepath.Glob("/proc/" + pid + "/fd/*")
		fmt.Printf("tried descriptors of %s: %d, %v\n", pid, len(open), err)
		for _, path := range open {
			if at, err := os.Readlink(path); err == nil && strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "/dev/") {
				show(path)
			}
		}
	}
}

// fileHandle prints the handle of a file for byHandle.
func fileHandle(args []string) {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, args[0], 0)
	if err != nil {
		fmt.Print("none")
		return
	}
	fmt.Printf("%d:%x", h.Type(), h.Bytes())
}

// byHandle opens a file by a handle that was guessed, on the file system of each
// mount.
func byHandle(args []string) {
	var kind int32
	var text []byte
	if _, err := fmt.Sscanf(args[0], "%d:%x", &kind, &text); err != nil {
		fmt.Println("tried a handle:", err)
		return
	}
	for _, path := range []string{".", "/tmp", "/usr", "/etc/hosts", "/"} {
		at, err := unix.Open(path, unix.O_RDONLY, 0)
		if err != nil {
			continue
		}
		fd, err := unix.OpenByHandleAt(at, unix.NewFileHandle(kind, text), unix.O_RDONLY)
		if tried("open_by_handle_at on "+path, err) {
			read(path, fd)
		}
	}
}

func searchKeys(args []string) {
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_PROCESS_KEYRING} {
		id, err := unix.KeyctlSearch(ring, "user", args[0], 0)
		fmt.Printf("tried keyring %d: %v\n", ring, err)
		if err != nil {
			continue
		}
		b := make([]byte, 200)
		n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0)
		fmt.Printf("read key: %v %q\n", err, b[:max(n, 0)])
	}
	if raw, err := os.ReadFile("/proc/keys"); err == nil {
		fmt.Printf("keys: %s\n", raw)
	}
	id, err := unix.RequestKey("user", args[0], "", unix.KEY_SPEC_USER_KEYRING)
	fmt.Println("tried request_key:", id, err)
}

func addKey(args []string) {
	id, err := unix.AddKey("user", args[0], []byte(args[1]), unix.KEY_SPEC_USER_KEYRING)
	if tried("add_key", err) {
		err = unix.KeyctlSetperm(id, 0x3f3f0000) // the user may do everything
		fmt.Println("setperm:", err)
	}
}

func dropKey(args []string) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", args[0], 0)
	if err == nil {
		_, err = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
	}
	fmt.Println("unlinked:", err)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func sharedMemory(args []string) {
	id, err := unix.SysvShmGet(number(args[0]), 4096, 0)
	if err != nil {
		fmt.Println("tried shmget:", err)
		return
	}
	b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err == nil {
		fmt.Printf("read shared memory: %q\n", b[:64])
	}
	fmt.Println("tried shmat:", err)
}

func makeSharedMemory(args []string) {
	id, err := unix.SysvShmGet(number(args[0]), 4096, 0o600|unix.IPC_CREAT)
	if err == nil {
		var b []byte
		if b, err = unix.SysvShmAttach(id, 0, 0); err == nil {
			copy(b, args[1])
		}
	}
	fmt.Println("made:", err)
}

func dropSharedMemory(args []string) {
	id, err := unix.SysvShmGet(number(args[0]), 4096, 0)
	if err == nil {
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	fmt.Println("removed:", err)
}

// hold waits until its input ends, which is how the suite ends a victim.
func hold([]string) {
	_, err := io.Copy(io.Discard, os.Stdin)
	fmt.Println("held:", err)
}

// pauses repeats something for a number of milliseconds.
func pauses(ms string, again func()) {
	for end := time.Now().Add(time.Duration(number(ms)) * time.Millisecond); time.Now().Before(end); {
		again()
	}
}
