// Package fake is a server of Chat Completions without a model: its answers are
// made when it is, so that giving one takes little of the cores that are shared
// with what is measured.
package fake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"chela"
	"chela/bench/load/mark"
	"chela/bench/load/measure"
)

// A Mode says how turns are answered.
type Mode string

// The modes.
const (
	Text Mode = "text" // with text at once
	Tool Mode = "tool" // with one call of a tool, and then with text
)

// Model is the name of the model that is served. Every other name does too.
const Model = "load"

// Config says what is answered. The zero value answers with a short text in one
// piece, at once.
type Config struct {
	Mode      Mode          // empty means Text
	Tool      string        // the tool that Tool calls; empty means echo
	Arguments string        // of that tool, as JSON; empty means some for echo
	Latency   time.Duration // before an answer begins
	Pause     time.Duration // between the pieces of a stream; with none they are sent in one go
	Chunks    int           // the pieces of a stream; 0 means 1
}

// maxBody bounds a request: the longest prompt of a model fits.
const maxBody = 32 << 20

// words make an answer in one piece, or each piece of one.
const words = " This is the answer of a model that does not think before it speaks."

// A Server answers with text that begins with the last mark in the last message
// of a person. It may be used by several goroutines at once.
type Server struct {
	mode    Mode
	latency time.Duration
	pause   time.Duration

	plainText, plainCall   answer
	streamText, streamCall answer

	requests atomic.Int64
	bodies   sync.Pool // of *bytes.Buffer
}

// New returns a server. A mode that there is not, or arguments that are not an
// object, are an Invalid error.
func New(cfg Config) (*Server, error) {
	cfg.Mode = cmp.Or(cfg.Mode, Text)
	cfg.Tool = cmp.Or(cfg.Tool, "echo")
	cfg.Arguments = cmp.Or(cfg.Arguments, `{"message":"hello"}`)
	cfg.Chunks = cmp.Or(cfg.Chunks, 1)
	arguments := cursor{rest: []byte(cfg.Arguments)}
	switch {
	case cfg.Mode != Text && cfg.Mode != Tool:
		return nil, chela.E(chela.Invalid, fmt.Sprintf("unknown mode %q", cfg.Mode)).WithHint("use text or tool")
	case !arguments.members(func(string, []byte) {}):
		return nil, chela.E(chela.Invalid, "the arguments of the tool are not a JSON object")
	case cfg.Chunks < 1:
		return nil, chela.E(chela.Invalid, "an answer has one piece at the least")
	}
	return &Server{
		mode: cfg.Mode, latency: cfg.Latency, pause: cfg.Pause,
		plainText: plainText(), plainCall: plainCall(cfg),
		streamText: streamText(cfg), streamCall: streamCall(cfg),
		bodies: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}, nil
}

// Requests returns how many completions were asked for.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Run serves on ln until ctx ends, and closes it.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait := measure.Begin(func() error {
		defer cancel()
		return server.Serve(ln)
	})
	<-ctx.Done()
	closeErr := server.Close()
	if err := wait(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the fake model: %w", err)
	}
	return closeErr
}

// ServeHTTP answers a request below any path, so that whatever base URL a
// program is given works.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch last := path.Base(r.URL.Path); {
	case last == "completions" && r.Method == http.MethodPost:
		s.complete(w, r, s.requests.Add(1))
	case last == "models" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model","created":0,"owned_by":"load"}]}`, Model)
	default:
		refuse(w, http.StatusNotFound, "there is no such route")
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, message)
}

// complete answers the request of that number. Where a message has no mark, the
// number stands for it: calls need ids that differ.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, number int64) {
	body := s.bodies.Get().(*bytes.Buffer)
	defer s.bodies.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(io.LimitReader(r.Body, maxBody)); err != nil {
		return // whoever asked has gone
	}
	q, err := readQuestion(body.Bytes())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if measure.Pause(r.Context(), s.latency) != nil {
		return
	}
	name := mark.Last(q.user)
	if name == nil {
		name = strconv.AppendInt(nil, number, 10)
	}
	if a := s.answer(q); q.stream {
		s.stream(w, r, a.pieces(name, q.usage))
	} else {
		writeWhole(w, a.fill(name))
	}
}

func writeWhole(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// stream sends the pieces of an answer: together, or with pauses between.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, pieces [][]byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	if s.pause == 0 {
		w.Write(bytes.Join(pieces, nil))
		return
	}
	flusher := http.NewResponseController(w)
	for i, piece := range pieces {
		if i > 0 && measure.Pause(r.Context(), s.pause) != nil {
			return
		}
		w.Write(piece)
		flusher.Flush()
	}
}

// answer chooses what to say.
func (s *Server) answer(q question) answer {
	switch calls := s.mode == Tool && !q.answered; {
	case calls && q.stream:
		return s.streamCall
	case calls:
		return s.plainCall
	case q.stream:
		return s.streamText
	default:
		return s.plainText
	}
}
