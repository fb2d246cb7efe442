package config

import "chela"

// Reading says whether texts from outside stay out of prompts.
type Reading string

// The values of Reading.
const (
	ReadingAuto Reading = "auto" // in the profile careful
	ReadingOn   Reading = "on"
	ReadingOff  Reading = "off"
)

// Holds reports whether texts from outside stay out of the prompts of turns with a
// profile.
func (r Reading) Holds(p chela.Profile) bool {
	return r == ReadingOn || r == ReadingAuto && p == chela.ProfileCareful
}
