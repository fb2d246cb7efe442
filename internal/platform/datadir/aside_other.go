//go:build !unix

package datadir

import "os"

// setAside rotates the log, replacing the previous one. On this system that
// fails while another process has it open.
func setAside(path string) error { return os.Rename(path, path+".1") }
