package wire

import (
	"bytes"
	"encoding/json"

	"chela/internal/surface/gateway/edge"
)

// A sheet is a buffer that values are written on as JSON, without the escapes
// that are for HTML.
type sheet struct {
	bytes.Buffer
	enc *json.Encoder
}

// put writes a value and a newline. All values are structs of this package with
// a JSON form.
func (s *sheet) put(v any) {
	if s.enc == nil {
		s.enc = json.NewEncoder(&s.Buffer)
		s.enc.SetEscapeHTML(false)
	}
	_ = s.enc.Encode(v)
}

// An sse writes server-sent events, unbuffered. After a failed write it writes
// nothing: the client is gone.
type sse struct {
	out  *edge.Visit
	buf  sheet
	gone bool
}

// newSSE begins an answer in events.
func newSSE(out *edge.Visit) *sse {
	out.Header().Set("Cache-Control", "no-cache")
	out.BeginEvents()
	return &sse{out: out}
}

// send writes an event; its name may be empty.
func (s *sse) send(name string, v any) {
	s.buf.Reset()
	if name != "" {
		s.buf.WriteString("event: ")
		s.buf.WriteString(name)
		s.buf.WriteByte('\n')
	}
	s.buf.WriteString("data: ")
	s.buf.put(v)
	s.buf.WriteByte('\n')
	s.flush()
}

// line writes a line without a value: the end mark, or a keep-alive comment.
func (s *sse) line(text string) {
	s.buf.Reset()
	s.buf.WriteString(text)
	s.buf.WriteString("\n\n")
	s.flush()
}

func (s *sse) flush() { s.gone = s.gone || s.out.Emit(s.buf.Bytes()) != nil }
