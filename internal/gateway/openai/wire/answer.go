package wire

import (
	"errors"
	"net/http"
	"strings"

	"chela"
)

// A Reply is what a request came to, before it takes one of the two forms.
type Reply struct {
	ID          string // unique
	Text        string
	Calls       []chela.CallSpec // of tools that the client runs; Ref is the id it is told
	Stop        chela.StopReason
	Interrupted bool // a person stopped it
	Usage       chela.TokenUsage
	About       *About // nil where there is nothing to tell
}

// About is what an answer tells beside what OpenAI's do.
type About struct {
	Session  chela.SessionKey `json:"session,omitempty"`
	Thread   chela.ThreadID   `json:"thread,omitempty"`
	Turn     chela.TurnID     `json:"turn,omitempty"`
	State    chela.TurnState  `json:"state,omitempty"`
	Approval chela.ApprovalID `json:"approval,omitempty"` // the one that waits
	Limit    chela.Limit      `json:"limit,omitempty"`    // that ended the turn
	Ignored  []string         `json:"ignored,omitempty"`  // fields that had no effect
}

// format makes answers in one of the two forms.
type format interface {
	whole(rep Reply) any
	begin(out *sse, id string) pieces
}

// pieces is an answer that is told while it comes. It belongs to one goroutine.
type pieces interface {
	say(text string)
	end(rep Reply)
	fail(err error)
}

// Answer writes a plain answer.
func (q *Request) Answer(w http.ResponseWriter, rep Reply) { WriteJSON(w, q.format.whole(rep)) }

// Stream returns a streamed answer. Nothing is written until it begins.
func (q *Request) Stream(w http.ResponseWriter) *Stream { return &Stream{w: w, format: q.format} }

// A Stream is an answer that is told while it comes, as server-sent events. It
// belongs to one goroutine.
type Stream struct {
	w      http.ResponseWriter
	format format
	out    *sse   // nil until it began
	pieces pieces // set with out
	told   strings.Builder
	gap    bool // a step ended: a blank line comes before the next text
}

// errTorn is the end of a stream that lost a piece of the answer.
var errTorn = Settled(chela.E(chela.Unavailable, "the stream lost a part of the answer").WithHint("read it from the thread"))

// Begin begins the answer, once. From then on an error has no status.
func (s *Stream) Begin(id string) {
	if s.out == nil {
		s.out = newSSE(s.w)
		s.pieces = s.format.begin(s.out, id)
	}
}

// Say tells a piece of text.
func (s *Stream) Say(id, text string) {
	s.Begin(id)
	if s.gap && s.told.Len() > 0 {
		text = "\n\n" + text
	}
	s.gap = false
	s.told.WriteString(text)
	s.pieces.say(text)
}

// Told reports whether text was told of the step that the model is at.
func (s *Stream) Told() bool { return !s.gap && s.told.Len() > 0 }

// Step tells that one of several texts ended.
func (s *Stream) Step() {
	s.gap = true
	s.Alive()
}

// Alive shows proxies that the connection is used, as they close idle ones.
func (s *Stream) Alive() {
	if s.out != nil {
		s.out.line(": working")
	}
}

// End tells what is missing of the text, and the end. Who joined an answer late
// was told the end of its text only. If what was told is neither, the stream
// ends with an error, as a part of it was lost.
func (s *Stream) End(rep Reply) {
	told := s.told.String()
	rest, begins := strings.CutPrefix(rep.Text, told)
	if !begins && !strings.HasSuffix(rep.Text, told) {
		s.pieces.fail(errTorn)
		return
	}
	s.Begin(rep.ID)
	if begins && rest != "" {
		s.pieces.say(rest)
	}
	s.pieces.end(rep)
}

// Fail tells an error, or returns it if nothing was told yet.
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
