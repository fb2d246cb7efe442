package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"chela"
)

// An Input reads typed or piped text, for one goroutine at a time.
type Input struct {
	r       *bufio.Reader
	reading chan line // a read that was begun and has not returned; nil if there is none
	back    *string   // a line that was put back; nil if there is none
}

// A line is what one read of a line returns.
type line struct {
	text string
	err  error
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
// unterminated last line counts. Once ctx has ended it returns the error of that; a
// terminal cannot be told to end a read, so the next call returns its line.
func (in *Input) Line(ctx context.Context) (string, error) {
	if back := in.back; back != nil {
		in.back = nil
		return *back, nil
	}
	if in.reading == nil {
		reading := make(chan line, 1)
		in.reading = reading
		go func() { // ends with its line, or with the process
			text, err := in.read()
			reading <- line{text, err}
		}()
	}
	select {
	case l := <-in.reading:
		in.reading = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// putBack makes a line that was read the next one.
func (in *Input) putBack(line string) { in.back = &line }

// read is Line without a context.
func (in *Input) read() (string, error) {
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
func (in *Input) Message(ctx context.Context, more func()) (string, error) {
	var lines []string
	size := 0
	for {
		line, err := in.Line(ctx)
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
