package datadir

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
	tailBytes = 256 << 10              // bytes of the existing log that are read
	lookTime  = 250 * time.Millisecond // poll interval for new lines
	maxLine   = 64 << 10               // bytes of a line; longer ones are split
)

// ReadLog passes lines of the log at path to show, oldest first: the newest
// existing lines and, if follow is set, each new one until ctx ends. A log
// without read permission is Denied.
func ReadLog(ctx context.Context, path string, follow bool, show func(line string)) error {
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

// A tail reads a log as it grows, and continues with the new file after a
// rotation.
type tail struct {
	path string
	file *os.File
	rest []byte // of an incomplete line
}

// open begins to read, limited to the last bytes; 0 is all. A missing log is
// empty.
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
	// A partial first line is dropped.
	begin, err := bufio.NewReader(io.LimitReader(f, last)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = f.Seek(st.Size()-last+int64(len(begin)), io.SeekStart)
	return err
}

// reopen switches to the file that has the name now, if the log was rotated or
// truncated, once the old one was read to its end.
func (t *tail) reopen(show func(string)) error {
	now, err := os.Stat(t.path)
	if err != nil {
		return nil // it is being rotated
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

// same reports whether the open file still has the name, and is at least as
// long as the part that was read.
func (t *tail) same(now fs.FileInfo) (bool, error) {
	open, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	told, err := t.file.Seek(0, io.SeekCurrent)
	return os.SameFile(open, now) && now.Size() >= told, err
}

// tell passes complete lines to show.
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

// line removes the next line from the buffer, if it is complete or long enough.
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
