package wire

import (
	"errors"
	"net/http"
	"strings"

	"chela"
	"chela/internal/surface/gateway/edge"
)

// A Reply is the result of a request, before it takes either wire form.
type Reply struct {
	chela.Finish // its calls are of tools that the client runs; Ref is the id it is told

	ID          string         // unique
	Asked       []chela.CallID // all calls of the newest step
	Interrupted bool           // a person stopped it
	About       *About         // nil if there is nothing to report
}

// About is chela's addition to OpenAI's answers.
type About struct {
	Session  chela.SessionKey `json:"session,omitempty"`
	Thread   chela.ThreadID   `json:"thread,omitempty"`
	Turn     chela.TurnID     `json:"turn,omitempty"`
	State    chela.TurnState  `json:"state,omitempty"`
	Approval chela.ApprovalID `json:"approval,omitempty"` // the pending approval
	Limit    chela.Limit      `json:"limit,omitempty"`    // that ended the turn
	Ignored  []string         `json:"ignored,omitempty"`  // fields without effect
}

// format writes answers in a wire form.
type format interface {
	whole(rep Reply) any
	begin(out *sse, id string) pieces
}

// pieces is an answer that is streamed. It belongs to one goroutine.
type pieces interface {
	say(text string)
	end(rep Reply)
	fail(err error)
}

// Answer writes a plain answer.
func (q *Request) Answer(w http.ResponseWriter, rep Reply) { WriteJSON(w, q.format.whole(rep)) }

// Stream returns a streamed answer. Nothing is written until it begins.
func (q *Request) Stream(w *edge.Visit) *Stream { return &Stream{w: w, format: q.format} }

// A Stream is an answer streamed as server-sent events. It belongs to one
// goroutine.
type Stream struct {
	w      *edge.Visit
	format format
	out    *sse   // nil until it began
	pieces pieces // set with out
	told   strings.Builder
	gap    bool // a step ended: a blank line comes before the next text
}

// errTorn is the error at the end of a stream that lost a piece of the answer.
var errTorn = Settled(chela.E(chela.Unavailable, "the stream lost a part of the answer").WithHint("read it from the thread"))

// Begin begins the answer, once. Later errors have no status.
func (s *Stream) Begin(id string) {
	if s.out == nil {
		s.out = newSSE(s.w)
		s.pieces = s.format.begin(s.out, id)
	}
}

// Say sends a piece of text.
func (s *Stream) Say(id, text string) {
	s.Begin(id)
	if s.gap && s.told.Len() > 0 {
		text = "\n\n" + text
	}
	s.gap = false
	s.told.WriteString(text)
	s.pieces.say(text)
}

// Told reports whether text of the current step was sent.
func (s *Stream) Told() bool { return !s.gap && s.told.Len() > 0 }

// Step ends a text; several texts are joined by a blank line.
func (s *Stream) Step() {
	s.gap = true
	s.Alive()
}

// Alive sends a keep-alive, because proxies close idle connections.
func (s *Stream) Alive() {
	if s.out != nil {
		s.out.line(": working")
	}
}

// End sends the missing rest of the text, and the end. A client that joined
// late was sent only the end of the text. If the sent text is neither, the
// stream ends with an error, because a part of it was lost. It reports whether
// the answer was sent completely.
func (s *Stream) End(rep Reply) bool {
	told := s.told.String()
	rest, begins := strings.CutPrefix(rep.Text, told)
	if !begins && !strings.HasSuffix(rep.Text, told) {
		s.pieces.fail(errTorn)
		return false
	}
	s.Begin(rep.ID)
	if begins && rest != "" {
		s.pieces.say(rest)
	}
	s.pieces.end(rep)
	return true
}

// Fail sends an error, or returns it if nothing was sent yet.
func (s *Stream) Fail(err error) error {
	if s.out == nil {
		return err
	}
	var committed settled
	if !errors.As(err, &committed) {
		err = settled{err}
	}
	s.pieces.fail(err)
	return nil
}
