//go:build !unix

package logfile

import "os"

// setAside lets a log become the old one, in the place of the one before. Here
// that fails while another process has it open.
func setAside(path string) error { return os.Rename(path, path+".1") }
