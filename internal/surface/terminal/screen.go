package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"chela"
)

// A Screen is the output of a terminal: results on Out, everything else on Err.
type Screen struct {
	Out, Err    io.Writer
	OutTerminal bool // Out is a terminal, not a file or pipe
	ErrTerminal bool
	Color       bool // Err supports colours

	Zone *time.Location // zone of displayed times; nil is UTC
}

// Moment formats a time in the zone of the screen.
func (s *Screen) Moment(t time.Time) string { return chela.Moment(t, s.Zone) }

// A sink remembers the first error of a writer, so that a full disk is reported
// once and not after every line.
type sink struct {
	w   io.Writer
	err error
}

// newSink returns a sink that writes to w.
func newSink(w io.Writer) *sink { return &sink{w: w} }

// Write implements io.Writer. After an error it writes nothing more.
func (s *sink) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// Err returns the first error, or nil.
func (s *sink) Err() error { return s.err }

// Text writes a piece of a result: unchanged to a file, escaped to a terminal.
func (s *Screen) Text(text string) {
	if s.OutTerminal {
		text = Visible(text)
	}
	fmt.Fprint(s.Out, text)
}

// Line writes a result and ends its line.
func (s *Screen) Line(text string) { s.Text(strings.TrimSuffix(text, "\n") + "\n") }

// Note writes lines beside the result, dimmed if colours are supported.
func (s *Screen) Note(text string) {
	text = Visible(text)
	if s.Color {
		text = "\x1b[2m" + text + "\x1b[0m"
	}
	fmt.Fprintln(s.Err, text)
}

// Prompt shows that input is expected.
func (s *Screen) Prompt(text string) { fmt.Fprint(s.Err, Visible(text)) }
