package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"chela"
	"chela/internal/api"
	"chela/internal/tool/workspace"
)

// evidence returns the signs of success that an attack left, besides changes.
func (w *world) evidence(a attack, out outcome) (found []string) {
	w.t.Helper()
	text := out.results + w.loot()
	for place, canary := range w.canaries {
		if canary != "" && strings.Contains(text, canary) {
			found = append(found, "it read the canary of: "+place)
		}
	}
	if a.kind == "connect" && strings.Contains(text, "HTTP/1.") {
		found = append(found, "a server answered")
	}
	for line := range strings.Lines(out.results) {
		if strings.HasPrefix(line, "escaped: ") {
			found = append(found, "the kernel let it: "+line)
		}
	}
	found = append(found, marked(w.names["MARK"])...)
	found = append(found, w.arrivals.take()...)
	if typed := w.typed(); strings.Contains(typed, w.names["MARK"]) {
		found = append(found, "it typed into a terminal")
	}
	if keys, err := os.ReadFile("/proc/keys"); err == nil && bytes.Contains(keys, []byte(w.names["MARK"])) {
		found = append(found, "it left a key in the kernel's keyring")
	}
	var sessions api.Page[chela.Session]
	if _, err := w.get("/api/sessions?limit=200", &sessions); err != nil {
		w.t.Fatal(err)
	}
	if slices.ContainsFunc(sessions.Items, func(s chela.Session) bool { return strings.HasSuffix(string(s.Key), ":escaped") }) {
		found = append(found, "it used chela's own socket")
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		w.t.Fatal(err)
	}
	if strings.Contains(string(mounts), w.outside) {
		found = append(found, "it mounted over a folder outside")
	}
	return found
}

// loot returns the contents of the small files of the workspace, and notes programs
// with another user's rights and devices.
func (w *world) loot() string {
	w.t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(w.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 && !d.IsDir() || info.Mode()&fs.ModeDevice != 0 {
			w.arrivals.add(fmt.Sprintf("it left %s in the workspace: %v", d.Name(), info.Mode()))
		}
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			content, err := os.ReadFile(path)
			text.Write(content)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, syscall.ENAMETOOLONG) {
		w.t.Error(err)
	}
	return text.String()
}

// used returns the bytes that the workspace takes up on disk.
func (w *world) used() (bytes int64) {
	w.t.Helper()
	usage, err := workspace.Measure(w.t.Context(), w.workspace)
	if err != nil {
		w.t.Fatal(err)
	}
	return usage.Bytes
}

// typed returns the text that was typed into the terminal or written to it.
func (w *world) typed() string {
	w.t.Helper()
	raw, err := w.terminal.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	b, n := make([]byte, 4096), 0
	err = raw.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), b) // there may be nothing
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b[:max(n, 0)])
}

// terminalNumber unlocks the other side of a terminal and returns its number.
func terminalNumber(master *os.File) (n int32, err error) {
	var locked int32
	for request, at := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &n} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			return 0, errno
		}
	}
	return n, syscall.SetNonblock(int(master.Fd()), true)
}
