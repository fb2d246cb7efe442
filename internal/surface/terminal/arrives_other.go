//go:build !unix

package terminal

import (
	"os"
	"time"
)

// InputArrives always reports true: this system cannot poll a file.
func InputArrives(*os.File, time.Duration) bool { return true }
