package guard

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/tool"
)

// How much a record holds.
const (
	maxSeen    = 512
	maxFailing = 64
	maxShown   = 160 // bytes of a call as it is shown
)

// A Record is what is known of a turn. The zero value is that of a new one.
// Its methods return the record after something happened; as with the built-in
// append, the one before must not be used any more.
type Record struct {
	Seen    []uint64  // hashes of texts and outcomes, newest last
	Failing []Failing // calls that failed, newest last
	Fresh   bool      // the step at hand brought something new
	Idle    int       // steps in a row that brought nothing new
	Told    int       // Idle when the model was last told
	Warned  bool      // the model was told, and the turn has not got on since
	Nudged  int       // how often it was told to make the call that it wrote out
}

// A Failing is a call that failed.
type Failing struct {
	Key   uint64 // hash of tool and arguments
	Shown string // the call in short
	Count int    // how often it failed
	Told  int    // Count when the model was last told
}

// Clone returns a record that shares nothing with r.
func (r Record) Clone() Record {
	r.Seen, r.Failing = slices.Clone(r.Seen), slices.Clone(r.Failing)
	return r
}

// Answered returns the record after the model answered, which begins a step.
func (r Record) Answered(text string) Record {
	r.Fresh = false
	if text = strings.TrimSpace(text); text != "" {
		r = r.see(hash("text", text))
	}
	return r
}

// Ended returns the record after a call of the step came to its end.
func (r Record) Ended(c chela.CallSpec, status chela.CallState, result string) Record {
	key := keyOf(c)
	before := r.Fresh
	r.Fresh = false
	r = r.see(hash(fmt.Sprint(key), string(status), result))
	if r.Fresh && status == chela.CallDone && r.Warned {
		r.Failing, r.Warned, r.Told = nil, false, 0
	}
	r.Fresh = r.Fresh || before
	if status == chela.CallFailed || status == chela.CallDenied {
		r = r.fail(key, c)
	}
	return r
}

// Stepped returns the record after all calls of a step came to their ends.
func (r Record) Stepped() Record {
	r.Idle++
	if r.Fresh {
		r.Idle, r.Told = 0, 0
	}
	return r
}

// Spoken returns the record after a person said something in the turn: what
// went in circles before may make sense now.
func (r Record) Spoken() Record { return Record{Nudged: r.Nudged} }

// Noted returns the record after a note entered the turn.
func (r Record) Noted(about chela.NoteKind) Record {
	switch about {
	case chela.NoteLoop:
		r.Warned, r.Told = true, r.Idle
		for i := range r.Failing {
			r.Failing[i].Told = r.Failing[i].Count
		}
	case chela.NoteCall:
		r.Nudged++
	}
	return r
}

// see notes something that may have been seen before.
func (r Record) see(what uint64) Record {
	if slices.Contains(r.Seen, what) {
		return r
	}
	if len(r.Seen) == maxSeen {
		r.Seen = slices.Delete(r.Seen, 0, maxSeen/4)
	}
	r.Seen, r.Fresh = append(r.Seen, what), true
	return r
}

// fail counts a failure.
func (r Record) fail(key uint64, c chela.CallSpec) Record {
	i := slices.IndexFunc(r.Failing, func(f Failing) bool { return f.Key == key })
	f := Failing{Key: key, Shown: shown(c)}
	switch {
	case i >= 0:
		f = r.Failing[i]
		r.Failing = slices.Delete(r.Failing, i, i+1)
	case len(r.Failing) == maxFailing:
		r.Failing = slices.Delete(r.Failing, 0, 1)
	}
	f.Count++
	r.Failing = append(r.Failing, f)
	return r
}

func keyOf(c chela.CallSpec) uint64 {
	if c.Raw != "" {
		return hash(c.Tool, c.Raw)
	}
	return hash(tool.Hash(c.Tool, c.Args))
}

// hash returns one number for some texts in their order.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// shown is a call in short.
func shown(c chela.CallSpec) string {
	return excerpt.Marked(c.Tool+" "+string(c.Args)+c.Raw, maxShown)
}
