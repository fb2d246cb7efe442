//go:build !linux

package worker

import (
	"fmt"
	"os"
)

// Main reports that there is no worker on this system and returns its exit
// code.
func Main() int {
	fmt.Fprintln(os.Stderr, "chela worker: there is no process sandbox on this system")
	return 2
}
