package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Unnamed returns the bytes on the disk of dir that processes hold in files without a
// name: deleted, and still open or mapped. A mapped file that is not open counts with
// the size of the mapping. Processes that have exited, or that this one may not look
// at, hold none.
func Unnamed(dir string, pids []int) (total int64) {
	var disk unix.Stat_t
	if unix.Stat(dir, &disk) != nil {
		return 0
	}
	seen := make(map[uint64]bool) // inodes
	for _, pid := range pids {
		fds := "/proc/" + strconv.Itoa(pid) + "/fd/"
		open, _ := os.ReadDir(fds) // the process may have exited
		for _, fd := range open {
			var st unix.Stat_t
			if unix.Stat(fds+fd.Name(), &st) != nil || st.Dev != disk.Dev || st.Nlink > 0 || st.Mode&unix.S_IFMT != unix.S_IFREG || seen[st.Ino] {
				continue
			}
			seen[st.Ino] = true
			total += st.Blocks * blockSize
		}
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(disk.Dev), unix.Minor(disk.Dev))
	for _, pid := range pids {
		for inode, size := range deleted(pid, device) {
			if !seen[inode] {
				seen[inode] = true
				total += size
			}
		}
	}
	return total
}

// blockSize is the unit of stat.
const blockSize = 512

// deleted returns the sizes of deleted files of a device that a process has mapped, by
// inode (proc_pid_maps(5)).
func deleted(pid int, device string) map[uint64]int64 {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return nil // it has exited
	}
	defer f.Close()
	sizes := make(map[uint64]int64)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 7 || fields[3] != device || fields[len(fields)-1] != "(deleted)" {
			continue
		}
		var from, to int64
		inode, err := strconv.ParseUint(fields[4], 10, 64)
		if err == nil {
			_, err = fmt.Sscanf(fields[0], "%x-%x", &from, &to)
		}
		if err == nil {
			sizes[inode] += to - from
		}
	}
	return sizes
}

// Contained returns the processes of this machine in the cgroups of a container. Of an
// engine in a virtual machine there are none.
func Contained(container string) (pids []int) {
	entries, _ := os.ReadDir("/proc") // without it there is nothing to look at
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if groups, err := os.ReadFile("/proc/" + e.Name() + "/cgroup"); err == nil && strings.Contains(string(groups), container) {
			pids = append(pids, pid)
		}
	}
	return pids
}
