package engine

import (
	"errors"
	"fmt"

	"chela"
)

// ErrTrouble is in the chain of every error of the database itself: full,
// read-only, damaged, locked or unreachable. It does not depend on the request,
// so its kind is Unavailable and a retry may succeed.
var ErrTrouble = errors.New("database error")

// trouble wraps cause as an error of the database itself.
func trouble(msg, hint string, cause error) error {
	return chela.E(chela.Unavailable, msg).WithHint(hint).Because(fmt.Errorf("%w: %w", ErrTrouble, cause))
}

// errNoTable is in the chain of an error about a missing table, as in a new
// database.
var errNoTable = errors.New("there is no such table")

// Hints shared by both engines.
const (
	fullHint    = "free some space and try again; no partial data was written"
	damagedHint = "run chela doctor, and restore a backup if it finds damage"
)
