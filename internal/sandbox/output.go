package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Output makes text of a command's bytes: it puts Root in place of the
// workspace's path on the host, makes valid UTF-8 of what is not, hands each
// piece on as it comes, and keeps the first and the last half of [MaxOutput].
// Neither a path nor a character is missed because it came in two pieces. It
// is for one goroutine.
type Output struct {
	host  []byte // the path to be replaced; empty for none
	each  func(text string)
	held  []byte // the end of what came, while it may begin a path or a character
	head  []byte
	tail  []byte // the last bytes after head; at most twice what is kept
	total int64
}

// NewOutput returns an Output that replaces the path host, unless it is empty,
// and hands each piece to each, unless it is nil.
func NewOutput(host string, each func(text string)) *Output {
	return &Output{host: []byte(host), each: each}
}

// Write takes a piece of output. It never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.held = append(o.held, p...)
	o.pass(false)
	return len(p), nil
}

// Close hands on what was held back. It never fails.
func (o *Output) Close() error {
	o.pass(true)
	return nil
}

// pass hands on what is held, but for an end that may go on in the next piece.
func (o *Output) pass(last bool) {
	text := o.held
	if len(o.host) > 0 {
		text = bytes.ReplaceAll(text, o.host, []byte(Root))
	}
	keep := 0
	if !last {
		keep = max(openRune(text), openPrefix(text, o.host))
	}
	ready := clean(text[:len(text)-keep])
	o.held = append(o.held[:0], text[len(text)-keep:]...)
	if ready == "" {
		return
	}
	o.store(ready)
	if o.each != nil {
		o.each(ready)
	}
}

// openRune returns how many bytes at the end of text begin a character that is
// not complete.
func openRune(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		b := text[len(text)-n]
		if !utf8.RuneStart(b) {
			continue
		}
		if utf8.FullRune(text[len(text)-n:]) {
			return 0
		}
		return n
	}
	return 0
}

// openPrefix returns the length of the longest end of text that begins path
// and is shorter than it.
func openPrefix(text, path []byte) int {
	for n := min(len(text), len(path)-1); n > 0; n-- {
		if bytes.HasSuffix(text, path[:n]) {
			return n
		}
	}
	return 0
}

// clean puts the replacement character in place of each byte that is not UTF-8
// and of NUL, which not every store takes.
func clean(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, string(b))
}

const half = MaxOutput / 2

func (o *Output) store(text string) {
	o.total += int64(len(text))
	room := min(half-len(o.head), len(text))
	if room > 0 {
		o.head = append(o.head, text[:room]...)
		text = text[room:]
	}
	o.tail = append(o.tail, text...)
	if len(o.tail) > 2*half {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-half:]...)
	}
}

// Text returns what was kept and how many bytes of the middle were dropped,
// for which a line in the text stands.
func (o *Output) Text() (text string, dropped int64) {
	if o.total <= MaxOutput {
		return string(o.head) + string(o.tail), 0
	}
	head, tail := o.head, o.tail[len(o.tail)-half:]
	head = head[:len(head)-openRune(head)]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	dropped = o.total - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, dropped, tail), dropped
}
