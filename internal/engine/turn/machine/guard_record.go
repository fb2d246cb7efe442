package machine

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
)

// Sizes of a record.
const (
	maxSeen    = 512
	maxFailing = 64
	maxShown   = 160 // bytes of a call's excerpt
)

// A GuardRecord is the loop guard's memory of a turn. The zero value is the record
// of a new turn. Its methods return the updated record; as with the built-in
// append, the receiver must not be used afterwards.
type GuardRecord struct {
	Seen    []uint64     // hashes of texts and outcomes, newest last
	Failing []FailedCall // failed calls, newest last
	Fresh   bool         // the current step has something new
	Idle    int          // consecutive steps without anything new
	Told    int          // Idle at the last note
	Warned  bool         // a note was given, without progress since
	Nudged  int          // notes about calls written as text
}

// A FailedCall is a call that failed.
type FailedCall struct {
	Key   uint64 // hash of tool and arguments
	Shown string // excerpt of the call
	Count int    // number of failures
	Told  int    // Count at the last note
}

// Clone returns a record that shares nothing with r.
func (r GuardRecord) Clone() GuardRecord {
	r.Seen, r.Failing = slices.Clone(r.Seen), slices.Clone(r.Failing)
	return r
}

// Answered returns the record after an answer of the model, which begins a
// step.
func (r GuardRecord) Answered(text string) GuardRecord {
	r.Fresh = false
	if text = strings.TrimSpace(text); text != "" {
		r = r.see(hash("text", text))
	}
	return r
}

// Ended returns the record after a call of the step ended.
func (r GuardRecord) Ended(c chela.CallSpec, status chela.CallState, result string) GuardRecord {
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

// Stepped returns the record after all calls of a step ended.
func (r GuardRecord) Stepped() GuardRecord {
	r.Idle++
	if r.Fresh {
		r.Idle, r.Told = 0, 0
	}
	return r
}

// Spoken returns the record after a person's message in the turn, which resets
// the counters: repeating a call may make sense now.
func (r GuardRecord) Spoken() GuardRecord { return GuardRecord{Nudged: r.Nudged} }

// Noted returns the record after a note entered the turn.
func (r GuardRecord) Noted(about chela.NoteKind) GuardRecord {
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

// see records a hash and marks the step as new if it was unknown.
func (r GuardRecord) see(what uint64) GuardRecord {
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
func (r GuardRecord) fail(key uint64, c chela.CallSpec) GuardRecord {
	i := slices.IndexFunc(r.Failing, func(f FailedCall) bool { return f.Key == key })
	f := FailedCall{Key: key, Shown: shown(c)}
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

// hash returns one hash of several texts in order.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// shown returns an excerpt of a call.
func shown(c chela.CallSpec) string {
	return excerpt.Marked(c.Tool+" "+string(c.Args)+c.Raw, maxShown)
}
