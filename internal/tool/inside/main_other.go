//go:build !linux

package inside

import (
	"fmt"
	"os"
)

// Main reports that containers run Linux.
func Main() int {
	fmt.Fprintln(os.Stderr, "chela worker: the worker of a job runs in a container of Linux")
	return 2
}
