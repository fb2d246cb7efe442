package wire

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"sync"
)

// maxEvent bounds a line of a stream, in bytes, as a scanner requires. It
// exceeds the limit of provider.LimitBody.
const maxEvent = 16 << 20

// lineRoom holds the buffers of streams that were read. A longer line gets one of its
// own.
var lineRoom = sync.Pool{New: func() any { return new([lineSize]byte) }}

const lineSize = 16 << 10

// Events yields the data of each event of a server-sent stream; see
// https://html.spec.whatwg.org/multipage/server-sent-events.html. Names, ids
// and comments are ignored. The data is valid until the next event. A read
// error comes last.
func Events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		room := lineRoom.Get().(*[lineSize]byte)
		defer lineRoom.Put(room)
		lines := bufio.NewScanner(r)
		lines.Buffer(room[:0], maxEvent)
		var data []byte
		open := false // an event has begun
		for first := true; lines.Scan(); first = false {
			line := lines.Bytes()
			if first {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if len(line) == 0 {
				if open && !yield(data, nil) {
					return
				}
				data, open = data[:0], false
				continue
			}
			value, ok := bytes.CutPrefix(line, []byte("data:"))
			if !ok {
				continue
			}
			if open {
				data = append(data, '\n')
			}
			data, open = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		switch err := lines.Err(); {
		case err != nil:
			yield(nil, err)
		case open: // some servers omit the last empty line
			yield(data, nil)
		}
	}
}
