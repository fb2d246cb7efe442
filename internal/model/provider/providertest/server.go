package providertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"chela"
)

// patience is how long a server that hangs waits for its caller to go.
const patience = 10 * time.Second

// A Protocol is one protocol, from the side of the server.
type Protocol struct {
	Path string // a pattern of [http.ServeMux] without the method

	// Read checks a request as strictly as the real server and tells what it
	// holds. What it returns as an error is why the request is refused.
	Read func(r *http.Request, body []byte) (ReceivedRequest, error)

	// Events returns the stream that carries a, without its end, and the end.
	Events func(a Answer) (stream, end []Event)

	// Plain returns the body that carries a without a stream.
	Plain func(a Answer) any

	// Refuse returns the answer to a request that fault refuses.
	Refuse func(fault Fault) (status int, body any)

	// Mark adds the headers of a refusal; nil if there are none.
	Mark func(h http.Header, fault Fault)

	Overloaded Event // tells inside a stream that the server has no room

	// Else answers requests for other paths; nil if there are none.
	Else http.Handler

	// Embed checks a request for embeddings, and returns its texts and the answer
	// to it; nil if there are none. Its path ends with Embeds.
	Embed  func(r *http.Request, body []byte) (texts []string, answer any, err error)
	Embeds string

	// Type is the media type of a stream, and Frame returns the bytes of one
	// of its events; both are those of server-sent events if left out.
	Type  string
	Frame func(e Event) []byte
}

// An Event is one event of a stream.
type Event struct {
	Name string // empty where the protocol does not name its events
	Data any    // a string is sent as it is, anything else as JSON
}

// Bytes returns the data of an event.
func (e Event) Bytes() []byte {
	if text, ok := e.Data.(string); ok {
		return []byte(text)
	}
	return encode(e.Data)
}

// frame returns a server-sent event.
func frame(e Event) []byte {
	var b bytes.Buffer
	if e.Name != "" {
		fmt.Fprintf(&b, "event: %s\n", e.Name)
	}
	fmt.Fprintf(&b, "data: %s\n\n", e.Bytes())
	return b.Bytes()
}

// An Object is a JSON object.
type Object = map[string]any

// encode returns v as JSON without escapes for HTML, as servers send it.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the objects of this package always have a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Serve starts a server that speaks p and does what c tells. It is closed
// when the test ends.
func Serve(t *testing.T, c Case, p Protocol) *httptest.Server {
	t.Helper()
	p.Type = cmp.Or(p.Type, "text/event-stream; charset=utf-8")
	if p.Frame == nil {
		p.Frame = frame
	}
	s := &server{t: t, c: c, protocol: p}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+p.Path, s.answer)
	if p.Else != nil {
		mux.Handle("/", p.Else)
	}
	srv := httptest.NewServer(s.orEmbed(mux))
	t.Cleanup(srv.Close)
	return srv
}

type server struct {
	t        *testing.T
	c        Case
	protocol Protocol
	requests atomic.Int64
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	got, err := s.protocol.Read(r, body)
	if err != nil {
		s.t.Errorf("the server refuses the request: %v", err)
		status, refusal := s.protocol.Refuse(FaultRefused)
		reply(w, status, refusal)
		return
	}
	s.c.Record(got)
	a := s.c.Answer(int(s.requests.Add(1)) - 1)
	if a.Echo && len(got.Texts) > 0 {
		a.Text = got.Texts[len(got.Texts)-1:]
	}
	switch {
	case a.Fault == FaultPage:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte("<html><head><title>502 Bad Gateway</title></head><body>try again</body></html>"))
	case a.Fault.Refuses():
		s.refuse(w, a)
	case got.Plain && a.Fault == FaultEndlessEvent:
		w.Header().Set("Content-Type", "application/json")
		s.repeat(w, []byte(`{"x":"`), bytes.Repeat([]byte("x"), 1<<16))
	case got.Plain:
		s.end(w, r, a, func() { reply(w, http.StatusOK, s.protocol.Plain(a)) })
	default:
		s.stream(w, r, a)
	}
}

// refuse answers a request as its fault wants.
func (s *server) refuse(w http.ResponseWriter, a Answer) {
	if a.After > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(a.After.Seconds()))
	}
	if s.protocol.Mark != nil {
		s.protocol.Mark(w.Header(), a.Fault)
	}
	status, refusal := s.protocol.Refuse(a.Fault)
	reply(w, status, refusal)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(body))
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, a Answer) {
	w.Header().Set("Content-Type", s.protocol.Type)
	out := http.NewResponseController(w)
	out.Flush()
	stream, end := s.protocol.Events(a)
	switch a.Fault {
	case FaultEndless:
		var frames []byte
		for _, e := range stream {
			frames = append(frames, s.protocol.Frame(e)...)
		}
		s.repeat(w, nil, frames)
		return
	case FaultSilent:
		s.hang(r)
		return
	case FaultEndlessEvent:
		s.repeat(w, []byte(`data: {"x":"`), bytes.Repeat([]byte("x"), 1<<16))
		return
	}
	s.send(w, a, stream)
	s.end(w, r, a, func() { s.send(w, a, end) })
}

// end ends an answer as its fault wants.
func (s *server) end(w http.ResponseWriter, r *http.Request, a Answer, complete func()) {
	switch a.Fault {
	case FaultCut:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			s.t.Errorf("tear the connection: %v", err)
			return
		}
		conn.Close()
	case FaultEnd:
	case FaultGarbage:
		s.send(w, a, []Event{{Name: "content_block_delta", Data: `{"type":"content_block_delta","index":0,`}})
	case FaultEvent:
		s.send(w, a, []Event{s.protocol.Overloaded})
	case FaultHang, FaultSilent:
		s.hang(r)
	default:
		complete()
	}
}

// hang waits until the caller is gone.
func (s *server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(patience):
		s.t.Error("the caller did not stop its request")
	}
}

// repeat sends a beginning, and then a piece over and over until the caller is
// gone or has got [Endless] bytes.
func (s *server) repeat(w io.Writer, begin, piece []byte) {
	_, err := w.Write(begin)
	for sent := 0; err == nil && sent < Endless; sent += len(piece) {
		_, err = w.Write(piece)
	}
}

func (s *server) send(w http.ResponseWriter, a Answer, events []Event) {
	out := http.NewResponseController(w)
	for _, e := range events {
		raw := s.protocol.Frame(e)
		size := len(raw)
		if a.Split > 0 {
			size = a.Split
		}
		for len(raw) > 0 {
			n := min(size, len(raw))
			w.Write(raw[:n])
			out.Flush()
			raw = raw[n:]
		}
	}
}

// Strict decodes raw into v and refuses fields that v does not have.
func Strict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%w in %.200s", err, raw)
	}
	if dec.More() {
		return fmt.Errorf("something follows the value in %.200s", raw)
	}
	return nil
}

// CheckTool refuses what no protocol takes as a tool: a name with other
// characters, or a schema that is not one of an object.
func CheckTool(name string, schema json.RawMessage, longest int) error {
	var s struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" {
		return fmt.Errorf("tool %q: schema must be of type object: %s", name, schema)
	}
	if !IsID(name) || len(name) > longest {
		return fmt.Errorf("tool name %q does not fit", name)
	}
	return nil
}

var idShape = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// IsID reports whether every protocol takes s as a name or an id: letters,
// digits, "_" and "-".
func IsID(s string) bool { return idShape.MatchString(s) }

// Reason returns why the answer stops, in the words of the contract.
func (a Answer) Reason() chela.StopReason {
	switch {
	case a.Stop != "":
		return a.Stop
	case len(a.Calls) > 0:
		return chela.StopCalls
	default:
		return chela.StopEnd
	}
}

// CheckStrict refuses a schema that no server takes to hold a model to: every
// object must be closed and require all its members.
func CheckStrict(schema json.RawMessage) error {
	var s struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional *bool                      `json:"additionalProperties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	if s.Type == "object" && (s.Additional == nil || *s.Additional) {
		return errors.New("'additionalProperties' is required to be supplied and to be false")
	}
	for name, property := range s.Properties {
		if !slices.Contains(s.Required, name) {
			return fmt.Errorf("'required' is required to include every key in properties, %q is missing", name)
		}
		if err := CheckStrict(property); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return CheckStrict(s.Items)
	}
	return nil
}
