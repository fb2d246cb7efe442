package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"net/http"
	"strings"

	"chela"
)

// A Config holds what a client needs to reach a server.
type Config struct {
	Name       string       // of the provider in errors
	BaseURL    string       // empty means Vendor
	Vendor     string       // address of the vendor, whose server requires a key; empty for none
	APIKey     string       // empty for a server that needs none
	KeyHeader  string       // header of the key; empty means Authorization, as bearer token
	HTTPClient *http.Client // nil means one with the defaults of net/http; redirects are never followed
}

// A Server is a client of a provider's server. It is safe for concurrent use; its
// fields may be changed before the first request.
type Server struct {
	Guard
	Base   string      // address, without a trailing slash
	Host   string      // of the address, without a port
	Header http.Header // sent with each request
	Do     func(*http.Request) (*http.Response, error)

	// Accept is the media type of a stream, and Events reads its events, of which
	// each is valid until the next one: by default server-sent events.
	Accept string
	Events func(io.Reader) iter.Seq2[Value, error]

	// Incomplete is the error of an unstreamed answer without an end.
	Incomplete string
}

// Reach returns a client; it makes no request. It returns Invalid for a malformed
// address, and Denied if the key for the vendor's server is missing.
func Reach(cfg Config) (*Server, error) {
	cfg.BaseURL = cmp.Or(cfg.BaseURL, cfg.Vendor)
	address, err := Address(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey == "" && cfg.BaseURL == cfg.Vendor {
		return nil, chela.E(chela.Denied, "provider "+cfg.Name+" has no key").
			WithHint("set its key, or the base url of a server that needs none")
	}
	s := &Server{
		Guard: Guard{Provider: cfg.Name, Secrets: []string{cfg.APIKey}},
		Base:  strings.TrimSuffix(cfg.BaseURL, "/"), Host: address.Hostname(),
		Header: http.Header{}, Do: Client(cfg.HTTPClient).Do, Accept: "text/event-stream",
	}
	s.Events = s.serverSent
	switch {
	case cfg.APIKey == "":
	case cfg.KeyHeader != "":
		s.Header.Set(cfg.KeyHeader, cfg.APIKey)
	default:
		s.Header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	return s, nil
}

// jsonType is the media type of requests, and of responses that are not streamed.
const jsonType = "application/json"

// send sends a request, a GET if it has no body. The caller closes the response's
// body, and releases that of the request.
func (s *Server) send(ctx context.Context, path, accept string, body *Body) (*http.Response, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, s.Base+path, http.NoBody)
	if err != nil {
		return nil, s.Failed(ctx, err)
	}
	maps.Copy(r.Header, s.Header)
	r.Header.Set("Accept", accept)
	if body != nil {
		r.Header.Set("Content-Type", jsonType)
		body.Attach(r)
	}
	return s.Guard.Do(r, s.Do)
}

// Value sends a request, whose body is JSON or nil for a GET, and returns its
// response, an object or a list. Errors are *chela.ProviderError, except ctx's own.
func (s *Server) Value(ctx context.Context, path string, body any) (Value, error) {
	var sent *Body
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, s.Unsent(chela.Invalid, err.Error())
		}
		sent = NewBody(raw)
	}
	res, err := s.send(ctx, path, jsonType, sent)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return s.ReadValue(ctx, res.Body)
}

// Object is Value for a response that must be an object.
func (s *Server) Object(ctx context.Context, path string, body any) (Value, error) {
	v, err := s.Value(ctx, path, body)
	if err != nil {
		return nil, err
	}
	return s.object(v)
}

// Progress is how much of an answer has arrived.
type Progress int

// The progress of an answer. A complete one may have more to come, such as usage.
const (
	Open Progress = iota
	Complete
	Ended
)

// ProgressOf returns the progress of an answer that is complete, or has ended as well.
func ProgressOf(complete, ended bool) Progress {
	switch {
	case !complete:
		return Open
	case ended:
		return Ended
	default:
		return Complete
	}
}

// An answer accumulates the answer of a protocol.
type answer interface {
	// Add applies an event of the stream, or the whole of an unstreamed answer, and
	// emits what it shows. It must not keep v.
	Add(v Value, emit EmitFunc)

	// Progress returns how much has arrived.
	Progress() Progress

	// Finish emits what was held back, and returns the finish of a complete answer, or
	// its error.
	Finish(emit EmitFunc) (*chela.Finish, error)
}

// A Request asks for an answer.
type Request struct {
	Path   string
	Plain  bool                   // not streamed
	Body   func() ([]byte, error) // from Scratch, if it is to be used again
	Answer answer                 // empty

	// Learn takes in the error of a request with the body sent, and reports whether
	// the next body will differ, so that it is worth another attempt. It may be nil.
	Learn func(sent []byte, err error) bool
}

// Stream returns the stream of an answer; see [Stream]. It may be read several times,
// each with a request of its own.
func (s *Server) Stream(ctx context.Context, request func(ctx context.Context) Request) iter.Seq2[chela.Chunk, error] {
	return Stream(ctx, func(ctx context.Context, emit EmitFunc) (*chela.Finish, error) {
		return s.Answer(ctx, request(ctx), emit)
	})
}

// Answer requests an answer and reads it.
func (s *Server) Answer(ctx context.Context, r Request, emit EmitFunc) (*chela.Finish, error) {
	res, err := s.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if r.Plain {
		return s.readPlain(ctx, res.Body, r.Answer, emit)
	}
	var broken error
	for event, err := range s.Events(res.Body) {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if failed, ok := errors.AsType[*chela.ProviderError](err); ok {
			return nil, failed
		}
		if broken = err; err != nil {
			break
		}
		if r.Answer.Add(event, emit); r.Answer.Progress() == Ended {
			break
		}
	}
	if r.Answer.Progress() == Open {
		return nil, s.Cut(ctx, broken)
	}
	return r.Answer.Finish(emit)
}

// ask sends a request, and again if something was learned from its error.
func (s *Server) ask(ctx context.Context, r Request) (*http.Response, error) {
	accept := s.Accept
	if r.Plain {
		accept = jsonType
	}
	for {
		raw, err := r.Body()
		if err != nil {
			return nil, err
		}
		body := NewBody(raw)
		res, err := s.send(ctx, r.Path, accept, body)
		again := err != nil && r.Learn != nil && r.Learn(raw, err)
		body.Release()
		if !again {
			return res, err
		}
	}
}

// readPlain reads an answer that is not streamed.
func (s *Server) readPlain(ctx context.Context, body io.Reader, a answer, emit EmitFunc) (*chela.Finish, error) {
	whole, err := s.ReadObject(ctx, body)
	if err != nil {
		return nil, err
	}
	if told, ok := s.Told(whole); ok {
		return nil, told
	}
	a.Add(whole, emit)
	if a.Progress() == Open {
		return nil, s.Unreadable(s.Incomplete)
	}
	return a.Finish(emit)
}

// serverSent yields server-sent events as objects. The end mark of OpenAI's protocol
// is an absent value.
func (s *Server) serverSent(r io.Reader) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		for raw, err := range Events(r) {
			var event Value
			switch {
			case err != nil || bytes.HasPrefix(raw, []byte("[DONE]")):
			case len(raw) == 0:
				continue
			default:
				event, err = s.Event(raw)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
