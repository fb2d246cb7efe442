//go:build !unix

package docker

import (
	"fmt"
	"io/fs"
)

func ownerOf(fs.FileInfo) (uid, gid uint32, ok bool) { return 0, 0, false }

func signalName(n int) string { return fmt.Sprintf("signal %d", n) }
