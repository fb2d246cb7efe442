package event

import (
	"iter"
	"slices"

	"chela"
)

// An audience is those who read, by their session; who reads all sessions has
// the empty key. The zero value is ready.
type audience[R comparable] struct {
	readers map[chela.SessionKey]map[R]struct{}
}

func (a *audience[R]) add(key chela.SessionKey, r R) {
	if a.readers == nil {
		a.readers = map[chela.SessionKey]map[R]struct{}{}
	}
	if a.readers[key] == nil {
		a.readers[key] = map[R]struct{}{}
	}
	a.readers[key][r] = struct{}{}
}

func (a *audience[R]) remove(key chela.SessionKey, r R) {
	delete(a.readers[key], r)
	if len(a.readers[key]) == 0 {
		delete(a.readers, key)
	}
}

func (a *audience[R]) isEmpty() bool { return len(a.readers) == 0 }

// all yields everybody. Whoever was yielded may be removed meanwhile.
func (a *audience[R]) all() iter.Seq[R] {
	return func(yield func(R) bool) {
		for _, readers := range a.readers {
			for r := range readers {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// of yields whoever reads an event of a session, or of none with the empty key.
// Whoever was yielded may be removed meanwhile.
func (a *audience[R]) of(key chela.SessionKey) iter.Seq[R] {
	return func(yield func(R) bool) {
		for _, key := range slices.Compact([]chela.SessionKey{"", key}) {
			for r := range a.readers[key] {
				if !yield(r) {
					return
				}
			}
		}
	}
}
