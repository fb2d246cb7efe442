package pgtest

import "syscall"

// inMemory returns a folder in memory with room for a few servers, or "" where
// there is none. Making and dropping a database is making and removing 300
// files, which takes 20 ms there, and up to half a second of the processor on a
// disk.
func inMemory() string {
	const dir, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return ""
	}
	return dir
}
