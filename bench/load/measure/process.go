package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Process is what Linux tells about a process at one moment.
type Process struct {
	CPU      time.Duration // spent by all of its threads; counted in steps of 10 ms
	Resident int64         // bytes of memory
	Peak     int64         // the most bytes that were resident at once
	Files    int           // open file descriptors
}

// tick is the unit of times in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ReadProcess looks at a process through /proc, so it works on Linux only, and
// for processes of the same user.
func ReadProcess(pid int) (Process, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, statErr := os.ReadFile(filepath.Join(dir, "stat"))
	status, statusErr := os.ReadFile(filepath.Join(dir, "status"))
	files, filesErr := os.ReadDir(filepath.Join(dir, "fd"))
	if err := errors.Join(statErr, statusErr, filesErr); err != nil {
		return Process{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	cpu, err := cpuTime(stat)
	if err != nil {
		return Process{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	return Process{
		CPU: cpu, Resident: kilobytes(status, "VmRSS:"), Peak: kilobytes(status, "VmHWM:"), Files: len(files),
	}, nil
}

// cpuTime reads the user and system time, fields 14 and 15 of stat. The second
// field is the name of the program in parentheses, which may hold anything.
func cpuTime(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("its stat has too few fields")
	}
	user, userErr := strconv.ParseInt(fields[11], 10, 64)
	system, systemErr := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(userErr, systemErr)
}

// kilobytes reads a line of status such as "VmRSS:   123 kB" as bytes. It is 0
// where there is no such line, as for a process that has ended.
func kilobytes(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// DiskUse returns the size of all files below a folder, in bytes. Files that
// vanish meanwhile count as nothing.
func DiskUse(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var st fs.FileInfo
			if st, err = d.Info(); err == nil {
				bytes += st.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure a folder: %w", err)
	}
	return bytes, nil
}
