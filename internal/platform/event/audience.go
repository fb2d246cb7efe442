package event

import (
	"iter"
	"slices"

	"chela"
)

// An audience holds the readers by their session; readers of all sessions have
// the empty key. The zero value is ready to use.
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

// all yields every reader. A yielded reader may be removed during the
// iteration.
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

// of yields the readers of a session's events, or of events without a session
// if the key is empty. A yielded reader may be removed during the iteration.
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
