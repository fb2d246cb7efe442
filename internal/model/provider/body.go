package provider

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// Limits of one response body, in bytes after decompression. A stream takes
// about 400 bytes per token and is read incrementally; single events and
// unstreamed bodies are held in memory.
const (
	maxStream = 128 << 20
	maxFramed = 64 << 20 // for bodies without separators
	maxEvents = 200_000  // including events without content
	maxEvent  = 8 << 20
	maxPiece  = 16 << 20
)

// LimitBody wraps a transport with limits on each response body. Reading beyond
// a limit fails with an error that [Limit] handles.
//
// As it limits the raw bytes between a provider and its server, it covers every
// protocol, client library, model list and error body.
func LimitBody(next http.RoundTripper) http.RoundTripper { return limitedBodies{next} }

type limitedBodies struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l limitedBodies) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	b := &limitedBody{ReadCloser: res.Body, total: maxStream, events: maxEvents, event: maxEvent}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // a malformed type counts as none
	switch kind {
	case "application/json":
		b.total, b.event = maxPiece, maxPiece
	case "application/vnd.amazon.eventstream":
		b.total, b.event = maxFramed, maxFramed // each event carries its length, which its reader checks
	case "application/x-ndjson":
		b.separator = lines
	default:
		b.separator = emptyLines
	}
	b.left = b.event
	res.Body = b
	return res, nil
}

// A separator marks the end of an event in a body; a body without separators is
// a single event.
type separator int

const (
	lines separator = iota + 1
	emptyLines
)

// A limitedBody is a response body with limits.
type limitedBody struct {
	io.ReadCloser
	separator separator
	total     int // bytes left
	events    int // events left
	event     int // limit of an event, in bytes
	left      int // bytes left of the current event

	lineBegins bool // the bytes read so far end a line
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.total <= 0 || b.left <= 0 || b.events <= 0 {
		return 0, tooLongError{event: b.left <= 0}
	}
	n, err := b.ReadCloser.Read(p)
	b.total -= n
	b.count(p[:n])
	return n, err
}

// count subtracts the bytes read from the limits. An event ends at each
// separator.
func (b *limitedBody) count(p []byte) {
	b.left -= len(p)
	ends := 0
	switch b.separator {
	case lines:
		ends = bytes.Count(p, []byte("\n"))
	case emptyLines:
		ends = b.emptyLines(p)
	}
	if ends > 0 {
		b.events -= ends
		b.left = b.event
	}
}

// emptyLines returns the number of empty lines that end in p, including one
// that began in an earlier read. Lines may also end with a carriage return.
func (b *limitedBody) emptyLines(p []byte) int {
	n := bytes.Count(p, []byte("\n\n")) + bytes.Count(p, []byte("\n\r\n"))
	text := bytes.TrimLeft(p, "\r")
	if b.lineBegins && bytes.HasPrefix(text, []byte("\n")) {
		n++
	}
	if text := bytes.TrimRight(p, "\r"); len(text) > 0 {
		b.lineBegins = text[len(text)-1] == '\n'
	}
	return n
}

// A tooLongError reports that a body exceeded its limit.
type tooLongError struct{ event bool }

func (e tooLongError) Error() string {
	if e.event {
		return fmt.Sprintf("the answer has an event of more than %d MiB", maxEvent>>20)
	}
	return fmt.Sprintf("the answer is longer than %d MiB or %d events", maxStream>>20, maxEvents)
}
