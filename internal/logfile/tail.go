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
		if err := t.reopen(); err != nil {
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
	if _, err := f.Seek(-last, io.SeekEnd); err != nil {
		return err
	}
	// What is before the first whole line is dropped.
	begin, err := bufio.NewReader(io.LimitReader(f, last)).ReadSlice('\n')
	if err != nil {
		return nil
	}
	_, err = f.Seek(int64(len(begin))-last, io.SeekEnd)
	return err
}

// reopen goes on with the file that has the name now, if it is another one and
// the old one is told.
func (t *tail) reopen() error {
	now, err := os.Stat(t.path)
	if err != nil {
		return nil // it is being set aside
	}
	if t.file != nil {
		st, err := t.file.Stat()
		if err == nil && os.SameFile(st, now) {
			return nil
		}
		t.close()
	}
	return t.open(0)
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
		for {
			line, rest, ended := bytes.Cut(t.rest, []byte("\n"))
			if !ended && len(line) < maxLine {
				break
			}
			show(string(line))
			t.rest = rest
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return chela.E(chela.Unavailable, "the log cannot be read").Because(err)
		}
	}
}

func (t *tail) close() {
	if t.file != nil {
		t.file.Close() // it was only read
		t.file = nil
	}
}
