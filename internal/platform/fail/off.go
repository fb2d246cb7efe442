//go:build !failpoint

package fail

// Enabled reports whether this is a test build with failpoints.
const Enabled = false

// Point marks a failpoint. It returns nil, or the error that a test asked for.
func Point(string) error { return nil }

// Mutant reports whether a test planted the named defect.
func Mutant(string) bool { return false }
