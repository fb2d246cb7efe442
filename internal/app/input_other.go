//go:build !unix

package app

import (
	"os"
	"time"
)

// InputArrives always reports true: this system cannot poll a file.
func InputArrives(*os.File, time.Duration) bool { return true }
