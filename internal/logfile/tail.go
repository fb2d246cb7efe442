package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"chela"
)

const (
	tailBytes = 256 << 10              // bytes of the log that are told from before
	lookTime  = 250 * time.Millisecond // how soon a new line is told
	maxLine   = 64 << 10               // bytes of a line; the rest is told as another
)

// Read hands lines of the log at path to show, oldest first: the newest of those
// that are kept and, where follow is set, each new one until ctx ends. A log that
// may not be read is Denied.
func Read(ctx context.Context, path string, follow bool, show func(line string)) error {
	t := &tail{path: path}
	defer t.close()
	if err := t.open(tailBytes); err != nil {
		return err
	}
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		if err := t.tell(show); err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := t.reopen(show); err != nil {
			return err
		}
	}
}

// A tail reads a log as it grows, and goes on with the new file when it was set
// aside.
type tail struct {
	path string
	file *os.File
	rest []byte // of a line that has no end yet
}

// open begins to read, at the most the last bytes; 0 is all. A log that is not
// there yet is empty.
func (t *tail) open(last int64) error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return chela.E(chela.Denied, "the log cannot be read").WithHint("check the permissions of the home").Because(err)
	}
	t.file = f
	st, err := f.Stat()
	if err != nil || last == 0 || st.Size() <= last {
		return err
	}
	if _, err := f.Seek(st.Size()-last, io.SeekStart); err != nil {
		return err
	}
	// What is before the first whole line is dropped.
	begin, err := bufio.NewReader(io.LimitReader(f, last)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = f.Seek(st.Size()-last+int64(len(begin)), io.SeekStart)
	return err
}

// reopen goes on with the file that has the name now, if it is another one or
// was cut, when what the old one had is told.
func (t *tail) reopen(show func(string)) error {
	now, err := os.Stat(t.path)
	if err != nil {
		return nil // it is being set aside
	}
	if t.file != nil {
		same, err := t.same(now)
		if same || err != nil {
			return err
		}
		if err := t.tell(show); err != nil {
			return err
		}
		t.close()
	}
	return t.open(0)
}

// same reports whether the open file is the one that has the name now, and has
// all that was read of it.
func (t *tail) same(now fs.FileInfo) (bool, error) {
	open, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	told, err := t.file.Seek(0, io.SeekCurrent)
	return os.SameFile(open, now) && now.Size() >= told, err
}

// tell hands the lines that have arrived to show.
func (t *tail) tell(show func(string)) error {
	if t.file == nil {
		return nil
	}
	chunk := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(chunk)
		t.rest = append(t.rest, chunk[:n]...)
		for line, ok := t.line(); ok; line, ok = t.line() {
			show(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return chela.E(chela.Unavailable, "the log cannot be read").Because(err)
		}
	}
}

// line takes the next line off what was read, if it is whole or long enough.
func (t *tail) line() (string, bool) {
	end, next := bytes.IndexByte(t.rest, '\n'), 1
	switch {
	case end > maxLine || end < 0 && len(t.rest) >= maxLine:
		end, next = maxLine, 0
	case end < 0:
		return "", false
	}
	line := string(t.rest[:end])
	t.rest = t.rest[end+next:]
	return line, true
}

func (t *tail) close() {
	if t.file != nil {
		t.file.Close() // it was only read
		t.file = nil
	}
}
