package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxMessage limits a line and the content of a message of a stream, in bytes.
// The largest event holds a message of a person or the output of a tool.
const maxMessage = 4 << 20

// errTooLong ends a stream with a message beyond maxMessage.
var errTooLong = errors.New("a message of the stream is too long")

// A message is a message of a stream of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
type message struct {
	id   string // the last id of the stream; empty before the first
	name string // of the event
	text string // its lines, joined by a line feed
}

// A decoder splits a stream into messages. It is not safe for concurrent use.
type decoder struct {
	lines *bufio.Scanner
	id    string
	cr    bool // the line before ended in CR: a LF that follows belongs to it
	begun bool
}

func newDecoder(r io.Reader) *decoder {
	d := &decoder{lines: bufio.NewScanner(r)}
	d.lines.Buffer(nil, maxMessage)
	d.lines.Split(d.split)
	return d
}

// next returns the next message with content or an id of its own, which is the
// position of the stream. A message truncated by the end of the stream is
// dropped: the error is io.EOF, or the reader's.
func (d *decoder) next() (message, error) {
	m := message{id: d.id}
	var lines []string
	size, told := 0, false
	for d.lines.Scan() {
		line := d.lines.Text()
		if !d.begun {
			line, d.begun = strings.TrimPrefix(line, "\ufeff"), true
		}
		if line == "" {
			if d.id = m.id; !told {
				m.name = ""
				continue
			}
			m.text = strings.Join(lines, "\n")
			return m, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			if size += len(value) + 1; size > maxMessage {
				return message{}, errTooLong
			}
			lines, told = append(lines, value), true
		case "event":
			m.name = value
		case "id":
			if !strings.Contains(value, "\x00") {
				m.id, told = value, true
			}
		}
	}
	switch err := d.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return message{}, errTooLong
	case err != nil:
		return message{}, err
	default:
		return message{}, io.EOF
	}
}

// split splits lines, which end in LF, CR or both. A line truncated by the end
// of the stream is dropped.
func (d *decoder) split(raw []byte, _ bool) (advance int, line []byte, err error) {
	skip := 0
	if d.cr && len(raw) > 0 {
		if raw[0] == '\n' {
			skip = 1
		}
		d.cr = false
	}
	end := bytes.IndexAny(raw[skip:], "\r\n")
	if end < 0 {
		return skip, nil, nil
	}
	end += skip
	d.cr = raw[end] == '\r'
	return end + 1, raw[skip:end], nil
}
