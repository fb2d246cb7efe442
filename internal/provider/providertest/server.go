package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"chela"
)

// patience is how long a server that hangs waits for its caller to go.
const patience = 10 * time.Second

// A wire is one protocol, from the side of the server.
type wire struct {
	path string

	// read checks a request as strictly as the real server and tells what
	// it holds. What it returns as an error is why the request is refused.
	read func(h http.Header, body []byte) (Received, error)

	// events returns the stream that carries a, without its end, and the
	// end.
	events func(a Answer) (stream, end []event)

	// plain returns the body that carries a without a stream.
	plain func(a Answer) any

	// refuse returns the answer to a request that fault refuses.
	refuse func(fault Fault) (status int, body any)

	overloaded event // tells inside a stream that the server has no room
}

// An event is one event of a server-sent stream.
type event struct {
	name string // empty where the protocol does not name its events
	data any    // a string is sent as it is, anything else as JSON
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		fmt.Fprintf(&b, "event: %s\n", e.name)
	}
	text, ok := e.data.(string)
	if !ok {
		text = string(encode(e.data))
	}
	fmt.Fprintf(&b, "data: %s\n\n", text)
	return b.Bytes()
}

// object is a JSON object.
type object = map[string]any

// encode returns v as JSON without escapes for HTML, as servers send it.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the objects of this package always have a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// newServer starts a server that speaks w and does what c tells. It is closed
// when the test ends.
func newServer(t *testing.T, c Case, w wire) *httptest.Server {
	t.Helper()
	s := &server{t: t, c: c, wire: w}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+w.path, s.answer)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

type server struct {
	t        *testing.T
	c        Case
	wire     wire
	requests atomic.Int64
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	got, err := s.wire.read(r.Header, body)
	if err != nil {
		s.t.Errorf("the server refuses the request: %v", err)
		status, refusal := s.wire.refuse(FaultRefused)
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
		if a.After > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(a.After.Seconds()))
		}
		status, refusal := s.wire.refuse(a.Fault)
		reply(w, status, refusal)
	case got.Plain:
		s.end(w, r, a, func() { reply(w, http.StatusOK, s.wire.plain(a)) })
	default:
		s.stream(w, r, a)
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(body))
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	out.Flush()
	stream, end := s.wire.events(a)
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
		s.send(w, a, []event{{name: "content_block_delta", data: `{"type":"content_block_delta","index":0,`}})
	case FaultEvent:
		s.send(w, a, []event{s.wire.overloaded})
	case FaultHang:
		select {
		case <-r.Context().Done():
		case <-time.After(patience):
			s.t.Error("the caller did not stop its request")
		}
	default:
		complete()
	}
}

func (s *server) send(w http.ResponseWriter, a Answer, events []event) {
	out := http.NewResponseController(w)
	for _, e := range events {
		raw := e.bytes()
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

// strict decodes raw into v and refuses fields that v does not have.
func strict(raw []byte, v any) error {
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

// checkTool refuses what no protocol takes as a tool: a name with other
// characters, or a schema that is not one of an object.
func checkTool(name string, schema json.RawMessage, longest int) error {
	var s struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" {
		return fmt.Errorf("tool %q: schema must be of type object: %s", name, schema)
	}
	if !idShape.MatchString(name) || len(name) > longest {
		return fmt.Errorf("tool name %q does not fit %s", name, idShape)
	}
	return nil
}

var idShape = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// stopOf returns why a stops, in the words of the contract.
func stopOf(a Answer) chela.StopReason {
	switch {
	case a.Stop != "":
		return a.Stop
	case len(a.Calls) > 0:
		return chela.StopCalls
	default:
		return chela.StopEnd
	}
}
