package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"chela"
)

// An Input reads typed or piped text.
type Input struct {
	r *bufio.Reader
}

// NewInput returns an input that reads r.
func NewInput(r io.Reader) *Input { return &Input{r: bufio.NewReader(r)} }

// IsPiped reports whether input is a pipe or file: neither a terminal nor a
// device such as /dev/null.
func IsPiped(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return true
	}
	at, err := f.Stat()
	return err == nil && at.Mode()&os.ModeCharDevice == 0
}

// errTooLarge is the error for input beyond the limit of a message.
var errTooLarge = chela.E(chela.Invalid, fmt.Sprintf("the message is larger than %d bytes", chela.MaxMessageBytes)).
	WithHint("send less, or put it into a file of the workspace")

// Line returns one line without its end, and io.EOF after the last. An
// unterminated last line counts.
func (in *Input) Line() (string, error) {
	var b strings.Builder
	for {
		part, err := in.r.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > chela.MaxMessageBytes+len("\r\n"):
			return "", errTooLarge
		case err == nil, errors.Is(err, io.EOF) && b.Len() > 0:
			return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// Message returns one message. A line that ends in a backslash continues in the
// next one; before each of those, more is called.
func (in *Input) Message(more func()) (string, error) {
	var lines []string
	size := 0
	for {
		line, err := in.Line()
		if err != nil {
			if errors.Is(err, io.EOF) && len(lines) > 0 {
				return strings.Join(lines, "\n"), nil
			}
			return "", err
		}
		before, goesOn := strings.CutSuffix(line, `\`)
		lines = append(lines, before)
		size += len(before)
		if size+len(lines)-1 > chela.MaxMessageBytes {
			return "", errTooLarge
		}
		if !goesOn {
			return strings.Join(lines, "\n"), nil
		}
		more()
	}
}

// Buffered reports whether text was read ahead.
func (in *Input) Buffered() bool { return in.r.Buffered() > 0 }

// All returns the rest of the input.
func (in *Input) All() (string, error) {
	text, err := io.ReadAll(io.LimitReader(in.r, chela.MaxMessageBytes+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > chela.MaxMessageBytes {
		return "", errTooLarge
	}
	return string(text), nil
}
