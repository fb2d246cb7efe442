package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/surface/terminal"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", chela.MaxMessageBytes)
	tests := []struct {
		name string
		text string
		want []string
		more int // how often another line was asked for
		err  chela.Kind
	}{
		{"lines", "one\ntwo\n", []string{"one", "two"}, 0, ""},
		{"nothing ends the last", "one\ntwo", []string{"one", "two"}, 0, ""},
		{"empty lines", "\n\n", []string{"", ""}, 0, ""},
		{"Windows", "one\r\ntwo\r\n", []string{"one", "two"}, 0, ""},
		{"goes on", "one\\\ntwo\\\nthree\nfour", []string{"one\ntwo\nthree", "four"}, 2, ""},
		{"ends while it goes on", "one\\\n", []string{"one"}, 1, ""},
		{"nothing", "", nil, 0, ""},
		{"largest", long + "\n", []string{long}, 0, ""},
		{"too large", long + "x\n", nil, 0, chela.Invalid},
		{"too large together", long + "\\\nx\n", nil, 1, chela.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := terminal.NewInput(strings.NewReader(tt.text))
			var got []string
			more := 0
			var err error
			for err == nil {
				var message string
				if message, err = in.Message(t.Context(), func() { more++ }); err == nil {
					got = append(got, message)
				}
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if chela.KindOf(err) != tt.err || more != tt.more {
				t.Errorf("got %v after %d more", err, more)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	text, err := terminal.NewInput(strings.NewReader("a\nb\n")).All()
	if err != nil || text != "a\nb\n" {
		t.Errorf("got %q, %v", text, err)
	}
	_, err = terminal.NewInput(strings.NewReader(strings.Repeat("x", chela.MaxMessageBytes+1))).All()
	if chela.KindOf(err) != chela.Invalid {
		t.Errorf("too large: %v", err)
	}
	broken := errors.New("broken")
	if _, err = terminal.NewInput(iotest.ErrReader(broken)).All(); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
	if _, err = terminal.NewInput(iotest.ErrReader(broken)).Line(t.Context()); !errors.Is(err, broken) {
		t.Errorf("broken line: %v", err)
	}
}

// TestLineIsCutOff: a read that was given up leaves its line to the next one.
func TestLineIsCutOff(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	in := terminal.NewInput(r)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if text, err := in.Line(over); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %q, %v", text, err)
		}
	}
	go fmt.Fprint(w, "one\ntwo\n") // ends with the reads
	for _, want := range []string{"one", "two"} {
		if got, err := in.Message(t.Context(), nil); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}
