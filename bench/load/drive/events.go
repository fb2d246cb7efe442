package drive

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// maxLine bounds one line of an event stream.
const maxLine = 4 << 20

// A frame is one event of a text/event-stream.
type frame struct {
	id    string // of this event alone; earlier ones do not linger
	event string
	data  []byte // its lines joined; valid until the next frame
}

// frames reads an event stream until it ends. A stream that ends inside a
// frame, or whose line is too long, gives an error last.
func frames(r io.Reader) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		lines.Split(wholeLines)
		var f frame
		begun := false
		for lines.Scan() {
			line := lines.Bytes()
			if len(line) > 0 {
				begun = f.add(line) || begun
				continue
			}
			// A frame without data only says where the stream is.
			if len(f.data) > 0 && !yield(f, nil) {
				return
			}
			f, begun = frame{data: f.data[:0]}, false
		}
		err := lines.Err()
		if err == nil && begun {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			yield(frame{}, err)
		}
	}
}

// wholeLines splits at the ends of lines, and takes a last line without one for
// cut off.
func wholeLines(text []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(text, atEOF)
	if atEOF && advance > 0 && text[advance-1] != '\n' {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return advance, line, err
}

// add takes one line and reports whether it said something: comments do not.
func (f *frame) add(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		f.id = string(value)
	case "event":
		f.event = string(value)
	case "data":
		if len(f.data) > 0 {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
	default:
		return false
	}
	return true
}
