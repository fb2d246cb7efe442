//go:build !unix

package presence

import (
	"errors"
	"os"
)

// lockFile has no counterpart here: whether a node is dead is told by its
// leases alone.
func lockFile(f *os.File) error {
	return errors.ErrUnsupported
}
