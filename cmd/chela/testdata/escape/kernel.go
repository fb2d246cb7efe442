package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mounts makes mounts over a folder outside, and over its own places.
func mounts(args []string) {
	for _, at := range append(args, "/tmp", "/workspace", "/proc", ".") {
		tried("mount tmpfs on "+at, unix.Mount("tmpfs", at, "tmpfs", 0, ""))
		tried("bind / on "+at, unix.Mount("/", at, "", unix.MS_BIND, ""))
		tried("mount proc on "+at, unix.Mount("proc", at, "proc", 0, ""))
		tried("mount sysfs on "+at, unix.Mount("sysfs", at, "sysfs", 0, ""))
		tried("mount cgroup on "+at, unix.Mount("cgroup", at, "cgroup", 0, "rdma"))
		tried("mount overlay on "+at, unix.Mount("overlay", at, "overlay", 0, "lowerdir=/usr:/etc"))
	}
}

// remount makes its mounts writable, and unmounts them. Its argument is the name of
// the files that it writes where that worked.
func remount(args []string) {
	for _, at := range []string{"/", "/usr", "/etc", "/proc", "/sys", "/etc/hosts"} {
		tried("remount "+at, unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND, ""))
		tried("mount_setattr "+at, unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}))
		tried("share "+at, unix.Mount("", at, "", unix.MS_SHARED, ""))
		tried("write below "+at, os.WriteFile(filepath.Join(at, args[0]), []byte("x"), 0o600))
	}
	for _, at := range []string{"/proc", "/workspace", "/tmp", "/dev/shm", "/usr"} {
		tried("umount "+at, unix.Unmount(at, unix.MNT_DETACH))
	}
}

// newMount uses the newer calls for mounts.
func newMount([]string) {
	fd, err := unix.Fsopen("tmpfs", 0)
	if tried("fsopen", err) {
		err = unix.FsconfigCreate(fd)
		tried("fsconfig", err)
		at, err := unix.Fsmount(fd, 0, 0)
		if tried("fsmount", err) {
			tried("move_mount", unix.MoveMount(at, "", unix.AT_FDCWD, "/tmp", unix.MOVE_MOUNT_F_EMPTY_PATH))
		}
	}
	_, err = unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)
	tried("open_tree", err)
	tried("pivot_root", unix.PivotRoot(".", "."))
	_, _, errno := unix.Syscall(unix.SYS_FSPICK, uintptr(^uint(99)), uintptr(unsafe.Pointer(&[]byte("/\x00")[0])), 0)
	tried("fspick", failure(errno))
}

func failure(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// chroot leaves a root by the classic way: a chroot below the working directory.
func chroot(args []string) {
	_ = os.Mkdir("jail", 0o700)
	if tried("chroot", unix.Chroot("jail")) {
		_ = os.Chdir(strings.Repeat("../", 30))
		show(args[0][1:])
	}
}

// unshare makes namespaces, in which it would have all capabilities.
func unshare([]string) {
	runtime.LockOSThread()
	for _, flag := range []int{unix.CLONE_NEWUSER, unix.CLONE_NEWUSER | unix.CLONE_NEWNS, unix.CLONE_NEWNS, unix.CLONE_NEWNET, unix.CLONE_NEWPID, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWTIME} {
		tried(fmt.Sprintf("unshare %#x", flag), unix.Unshare(flag))
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE, uintptr(flag)|uintptr(unix.SIGCHLD), 0, 0)
		if errno == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		if flag != unix.CLONE_NEWTIME { // which is a signal here
			tried(fmt.Sprintf("clone %#x", flag), failure(errno))
		}
		pid, _, errno = unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&[11]uint64{0: uint64(flag), 4: uint64(unix.SIGCHLD)})), 88, 0)
		if errno == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		tried(fmt.Sprintf("clone3 %#x", flag), failure(errno))
	}
}

// enter joins the namespaces of other processes.
func enter(args []string) {
	runtime.LockOSThread()
	for _, pid := range append([]string{"1"}, args...) {
		for _, name := range []string{"mnt", "user", "pid", "net", "ipc", "uts", "cgroup"} {
			fd, err := unix.Open("/proc/"+pid+"/ns/"+name, unix.O_RDONLY, 0)
			if err == nil {
				err = unix.Setns(fd, 0)
			}
			tried("setns "+pid+" "+name, err)
		}
	}
}

// calls makes system calls that no command needs, with arguments that do no harm
// where they are let.
func calls(args []string) {
	b := make([]byte, 4096)
	at := uintptr(unsafe.Pointer(&b[0]))
	*(*uint32)(unsafe.Pointer(&b[4])) = 128 // size of perf_event_attr
	*(*uint32)(unsafe.Pointer(&b[0])) = 1   // a software event
	all := map[string]func() unix.Errno{
		"io_uring_setup":  call(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&make([]byte, 256)[0]))),
		"bpf":             call(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&[]uint32{2, 4, 8, 1, 31: 0}[0])), 72),
		"perf_event_open": call(unix.SYS_PERF_EVENT_OPEN, at, 0, uintptr(^uint(0)), uintptr(^uint(0)), 0),
		"userfaultfd":     call(unix.SYS_USERFAULTFD, 0),
		"fanotify_init":   call(unix.SYS_FANOTIFY_INIT, 0, 0),
		"kcmp":            call(unix.SYS_KCMP, 1, 1, 0, 0, 1),
		"syslog":          call(unix.SYS_SYSLOG, 3, at, 4096),
		"acct":            call(unix.SYS_ACCT, uintptr(unsafe.Pointer(&[]byte("/tmp/acct\x00")[0]))),
		"swapon":          call(unix.SYS_SWAPON, at, 0),
		"reboot":          call(unix.SYS_REBOOT, unix.LINUX_REBOOT_MAGIC1, unix.LINUX_REBOOT_MAGIC2, unix.LINUX_REBOOT_CMD_CAD_OFF),
		"kexec_load":      call(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
		"iopl":            call(iopl, 3),
		"quotactl":        call(unix.SYS_QUOTACTL, 0x800001<<8, 0, 0, 0), // Q_SYNC
		"adjtimex":        func() unix.Errno { _, err := unix.Adjtimex(&unix.Timex{Modes: 0x8000}); return errnoOf(err) },
		"sethostname":     func() unix.Errno { return errnoOf(unix.Sethostname([]byte("escaped"))) },
		"setdomainname":   func() unix.Errno { return errnoOf(unix.Setdomainname([]byte("escaped"))) },
		"setuid":          func() unix.Errno { return errnoOf(unix.Setresuid(4321, 4321, 4321)) },
		"vhangup":         call(unix.SYS_VHANGUP),
		"capset": func() unix.Errno {
			var held [2]unix.CapUserData
			held[0].Effective, held[0].Permitted = 1<<unix.CAP_SYS_ADMIN, 1<<unix.CAP_SYS_ADMIN
			return errnoOf(unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &held[0]))
		},
		"mknod": func() unix.Errno { return errnoOf(unix.Mknod("device", unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0)))) },
	}
	for _, name := range args {
		errno := all[name]()
		tried(name, failure(errno))
	}
}

func errnoOf(err error) unix.Errno {
	errno, _ := err.(unix.Errno)
	return errno
}

func call(n uintptr, a ...uintptr) func() unix.Errno {
	a = append(a, 0, 0, 0, 0, 0, 0)
	return func() unix.Errno {
		_, _, errno := unix.Syscall6(n, a[0], a[1], a[2], a[3], a[4], a[5])
		return errno
	}
}

// module loads code into the kernel.
func module([]string) {
	fd, err := unix.Open("/proc/self/exe", unix.O_RDONLY, 0)
	if err == nil {
		err = unix.FinitModule(fd, "", 0)
	}
	tried("finit_module", err)
	tried("init_module", unix.InitModule([]byte("\x7fELF"), ""))
	tried("delete_module", unix.DeleteModule("escaped", 0))
}
