package leak

import (
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A Redactor is the scanner of a process, which every way out uses. The values that
// it searches for may be replaced at any time. A nil Redactor changes nothing. It is
// safe for concurrent use.
//
// Its results depend on the text and the values alone, so that a text is redacted
// the same way each time it is read, and redacting twice changes nothing more.
type Redactor struct {
	state atomic.Pointer[state]

	mu     sync.Mutex
	values map[string][]Value // guarded by mu; by source
}

// A state is a scanner with the texts in which it found nothing.
type state struct {
	*Scanner
	texts, jsons memo
}

func newState(values ...Value) *state {
	return &state{Scanner: New(values...), texts: memo{seed: maphash.MakeSeed()}, jsons: memo{seed: maphash.MakeSeed()}}
}

// NewRedactor returns a redactor of all formats and of no values yet.
func NewRedactor() *Redactor { return &Redactor{values: map[string][]Value{}} }

// Set replaces the values from a source, such as "config" or "vault".
func (r *Redactor) Set(source string, values ...Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.values[source], values) {
		r.replace(source, slices.Clone(values))
	}
}

// replace is Set for a caller that holds mu.
func (r *Redactor) replace(source string, values []Value) {
	r.values[source] = values
	var all []Value
	for _, vs := range r.values {
		all = append(all, vs...)
	}
	r.state.Store(newState(all...))
}

// Learn adds a value under a name, which is in its mark.
func (r *Redactor) Learn(name, value string) {
	LearnAll(r, map[string]string{name: value}) // a generic function, as values may have names of another type
}

// LearnAll is Learn for several values by their names.
func LearnAll[Name ~string](r *Redactor, values map[Name]string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock() // until the values are in place: another call may learn others
	all := slices.Clone(r.values[learned])
	known := len(all)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := Value{Name: string(name), Text: values[name]}
		if len(v.Text) >= MinValue && !slices.ContainsFunc(all, func(have Value) bool { return have.Text == v.Text }) {
			all = append(all, v)
		}
	}
	if len(all) > known {
		r.replace(learned, all)
	}
}

// learned is the source of values that were met while the process ran.
const learned = "learned"

// get returns the state; the first call makes it.
func (r *Redactor) get() *state {
	if s := r.state.Load(); s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.state.Load(); s != nil {
		return s
	}
	s := newState()
	r.state.Store(s)
	return s
}

// Text returns text with a mark in place of each credential.
func (r *Redactor) Text(text string) string {
	if r == nil || len(text) < MinValue {
		return text
	}
	s := r.get()
	return s.texts.redact(text, s.Redact)
}

// JSON returns a JSON text with a mark in place of each credential in its strings;
// see [Scanner.RedactJSON].
func (r *Redactor) JSON(raw string) string {
	if r == nil || len(raw) < MinValue {
		return raw
	}
	s := r.get()
	return s.jsons.redact(raw, s.RedactJSON)
}

// Value is JSON for a text that looks like an object or a list, else Text.
func (r *Redactor) Value(text string) string {
	if text != "" && (text[0] == '{' || text[0] == '[') {
		return r.JSON(text)
	}
	return r.Text(text)
}

// Find returns the credentials in text, in order and without overlap.
func (r *Redactor) Find(text string) []Finding {
	if r == nil {
		return nil
	}
	return r.get().Find(text)
}

// Stream returns a stream of the present values, which passes everything on for a nil
// Redactor.
func (r *Redactor) Stream() *Stream {
	if r == nil {
		return &Stream{}
	}
	return r.get().Stream()
}

// Writer returns a writer that redacts each write by itself: a line of a log, or a
// message. The writes must be whole lines.
func (r *Redactor) Writer(to io.Writer) io.Writer { return lineWriter{r, to} }

type lineWriter struct {
	redactor *Redactor
	to       io.Writer
}

// Write implements io.Writer.
func (w lineWriter) Write(line []byte) (int, error) {
	text := string(line)
	redacted := w.redactor.Value(text)
	if redacted == text {
		return w.to.Write(line)
	}
	if _, err := io.WriteString(w.to, redacted); err != nil {
		return 0, err
	}
	return len(line), nil
}

// remembered is the length of texts whose cleanness is remembered, in bytes. Prompts
// repeat the same long texts with each step.
const remembered = 256

// memory is how many clean texts are remembered, at least.
const memory = 4096

// A memo is a set of hashes of texts without a credential. It holds the newest ones:
// when new is full it becomes old.
type memo struct {
	seed maphash.Seed

	mu       sync.Mutex
	new, old map[uint64]struct{} // guarded by mu
}

// redact returns text as redacted by a function, unless it is known to be clean.
func (m *memo) redact(text string, by func(string) string) string {
	if len(text) < remembered {
		return by(text)
	}
	sum := maphash.String(m.seed, text)
	if m.has(sum) {
		return text
	}
	out := by(text)
	if out == text {
		m.add(sum)
	}
	return out
}

func (m *memo) has(sum uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.new[sum]
	if !ok {
		_, ok = m.old[sum]
	}
	return ok
}

func (m *memo) add(sum uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.new == nil || len(m.new) >= memory {
		m.new, m.old = map[uint64]struct{}{}, m.new
	}
	m.new[sum] = struct{}{}
}
