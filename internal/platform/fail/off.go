//go:build !failpoint

package fail

import "chela"

// Enabled reports whether this is a test build with failpoints.
const Enabled = false

// Point marks a failpoint. It returns nil, or the error that a test asked for.
func Point(string) error { return nil }

// Mutant reports whether a test planted the named defect.
func Mutant(string) bool { return false }

// Label returns the label of a text at one of the places where labels pass from text
// to text. The mutant "label "+place drops it.
func Label(_ string, p chela.Provenance) chela.Provenance { return p }
