package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Hidden asks for a line at a terminal, which is not shown while it is typed. The
// prompt goes to out. Ctrl-C and Ctrl-D are io.EOF. The terminal is restored
// before it returns.
func Hidden(in *os.File, out io.Writer, prompt string) (line string, err error) {
	fd := int(in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, before)) }()
	return term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{single{in}, out}, "").ReadPassword(Visible(prompt))
}

// single reads one byte at a time, so that what was typed after the line stays for
// the next reader.
type single struct{ io.Reader }

func (s single) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), 1)]) }
