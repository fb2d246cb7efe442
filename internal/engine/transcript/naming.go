package transcript

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"time"

	"chela"
)

// naming maps ids of a file to ids of chela deterministically.
type naming struct {
	file string    // id of the file; empty before the header was read
	own  bool      // written by chela
	at   time.Time // of the file
}

// entry returns the id of an entry. A valid id in a file of chela is kept.
func (n naming) entry(id string) chela.EntryID {
	if n.own && isID(id, "ent_") {
		return chela.EntryID(id)
	}
	return n.derived("entry", id).Entry()
}

// call returns the id of a tool call.
func (n naming) call(id string) chela.CallID {
	if n.own && isID(id, "call_") {
		return chela.CallID(id)
	}
	return n.derived("call", id).Call()
}

// turn returns the id of the turn that begins with an entry.
func (n naming) turn(first chela.EntryID) chela.TurnID {
	return n.derived("turn", string(first)).Turn()
}

// skipped returns the id of the result added for an unanswered call.
func (n naming) skipped(under chela.EntryID, call chela.CallID) chela.EntryID {
	return n.derived("skipped", string(under)+" "+string(call)).Entry()
}

// derived returns a source of one id, derived from the file, the kind and the
// original id.
func (n naming) derived(kind, id string) *chela.IDs {
	sum := sha256.Sum256([]byte(kind + "\x00" + n.file + "\x00" + id))
	return chela.NewIDs(func() time.Time { return n.at }, bytes.NewReader(sum[:]))
}

// isID reports whether s looks like an id with the given prefix.
func isID(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && rest != "" && len(rest) <= 40 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
