package pgtest

import "syscall"

// inMemory returns a folder in memory with room for a few servers, or "" if
// there is none. Creating and dropping a database creates and removes 300
// files, which takes 20 ms there, and up to half a second of processor time on
// a disk.
func inMemory() string {
	const dir, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return ""
	}
	return dir
}
