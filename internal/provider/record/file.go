package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"chela"
)

// A request is what a model sees of one.
type request struct {
	System    string              `json:"system,omitempty"`
	Messages  []chela.Message     `json:"messages"`
	Tools     []chela.ToolSpec    `json:"tools,omitempty"`
	Thinking  chela.ThinkingLevel `json:"thinking,omitempty"`
	MaxTokens int                 `json:"max_tokens,omitempty"`
}

// requestOf returns a request without secrets and without the names that differ
// from run to run: calls are numbered as they come.
func requestOf(req *chela.Request, s *Scrubber) (request, error) {
	r := request{
		System: req.System, Messages: make([]chela.Message, len(req.Messages)), Tools: req.Tools,
		Thinking: req.Thinking, MaxTokens: req.MaxTokens,
	}
	numbers := map[string]string{}
	number := func(ref string) string {
		if _, ok := numbers[ref]; !ok {
			numbers[ref] = "call_" + strconv.Itoa(len(numbers)+1)
		}
		return numbers[ref]
	}
	for i, m := range req.Messages {
		calls := make([]chela.CallSpec, len(m.Calls))
		for k, c := range m.Calls {
			c.ID, c.Ref = "", number(c.Ref)
			calls[k] = c
		}
		if m.Calls = calls; len(calls) == 0 {
			m.Calls = nil
		}
		if m.Role == chela.RoleTool {
			m.Call, m.Ref = "", number(m.Ref)
		}
		r.Messages[i] = m
	}
	return cleaned(s, r)
}

// hash tells requests apart.
func (r request) hash() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(r) // it was decoded from JSON
	return hex.EncodeToString(h.Sum(nil))
}

// A piece is a piece of an answer as it arrived.
type piece struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	Anew     bool   `json:"anew,omitempty"`
	Unseen   int    `json:"unseen,omitempty"`
}

// pieceOf returns a chunk that is no finish.
func pieceOf(c chela.Chunk) piece {
	return piece{Text: c.Text, Thinking: c.Thinking, Anew: c.Anew, Unseen: c.Unseen}
}

// chunk returns the chunk that the piece was.
func (p piece) chunk() chela.Chunk {
	return chela.Chunk{Text: p.Text, Thinking: p.Thinking, Anew: p.Anew, Unseen: p.Unseen}
}

// goesOn reports whether next may be more of the text, or of the reasoning, that p
// is or ends with.
func (p piece) goesOn(next piece) bool {
	if p.Anew || next.Anew {
		return false
	}
	return next.Unseen > 0 || (p.Text == "") == (next.Text == "")
}

// A finish is the end of an answer.
type finish struct {
	Text     string           `json:"text,omitempty"`
	Thinking []chela.Thinking `json:"thinking,omitempty"`
	Calls    []chela.CallSpec `json:"calls,omitempty"`
	Stop     chela.StopReason `json:"stop"`
	Model    string           `json:"model,omitempty"`
	Served   string           `json:"served,omitempty"`
	Usage    chela.TokenUsage `json:"usage"`
}

// A failure is what came instead of an answer.
type failure struct {
	Provider  string      `json:"provider,omitempty"` // empty: chela itself refused
	Kind      chela.Kind  `json:"kind"`
	Status    int         `json:"status,omitempty"`
	Retryable bool        `json:"retryable,omitempty"`
	AfterMS   int64       `json:"after_ms,omitempty"`
	Overflow  bool        `json:"overflow,omitempty"`
	Cut       bool        `json:"cut,omitempty"`
	Unpaid    bool        `json:"unpaid,omitempty"`
	Limit     chela.Limit `json:"limit,omitempty"`
	Message   string      `json:"message"`
	Hint      string      `json:"hint,omitempty"`
}

func failureOf(err error) *failure {
	if pe, ok := errors.AsType[*chela.ProviderError](err); ok {
		return &failure{
			Provider: pe.Provider, Kind: pe.Kind, Status: pe.Status, Retryable: pe.Retryable, AfterMS: pe.After.Milliseconds(),
			Overflow: pe.Overflow, Cut: pe.Cut, Unpaid: pe.Unpaid, Message: pe.Msg,
		}
	}
	f := &failure{Kind: chela.KindOf(err), Message: err.Error(), Hint: chela.HintOf(err)}
	if e, ok := errors.AsType[*chela.Error](err); ok {
		f.Message, f.Limit = e.Msg, e.Limit
	}
	return f
}

func (f *failure) err() error {
	if f.Provider == "" {
		return &chela.Error{Kind: f.Kind, Msg: f.Message, Hint: f.Hint, Limit: f.Limit}
	}
	return &chela.ProviderError{
		Provider: f.Provider, Kind: f.Kind, Status: f.Status, Retryable: f.Retryable, After: time.Duration(f.AfterMS) * time.Millisecond,
		Overflow: f.Overflow, Cut: f.Cut, Unpaid: f.Unpaid, Msg: f.Message,
	}
}

// An exchange is one file of a recording.
type exchange struct {
	Model   string   `json:"model"` // provider/model that was asked
	Request request  `json:"request"`
	Pieces  []piece  `json:"pieces,omitempty"`
	Finish  *finish  `json:"finish,omitempty"`
	Failure *failure `json:"failure,omitempty"`

	name string // of the file
	hash string // of the request, where it was read from a file
}

// add adds a piece of the answer.
func (x *exchange) add(c chela.Chunk) {
	if f := c.Finish; f != nil {
		x.Finish = &finish{Text: f.Text, Thinking: f.Thinking, Calls: f.Calls, Stop: f.Stop, Model: f.Model, Served: f.Served, Usage: f.Usage}
		return
	}
	x.Pieces = append(x.Pieces, pieceOf(c))
}

// scrub takes the secrets out of an answer. Pieces of one text that only together
// hold one become one piece, and what was only counted among them is told behind it.
func (x *exchange) scrub(s *Scrubber) (exchange, error) {
	whole := *x
	whole.Pieces = nil
	for i := 0; i < len(x.Pieces); {
		end := i + 1
		joined := x.Pieces[i]
		for end < len(x.Pieces) && joined.goesOn(x.Pieces[end]) {
			joined.Text += x.Pieces[end].Text
			joined.Thinking += x.Pieces[end].Thinking
			joined.Unseen += x.Pieces[end].Unseen
			end++
		}
		clean := joined
		clean.Text, clean.Thinking = s.Text(joined.Text), s.Text(joined.Thinking)
		switch {
		case clean == joined:
			whole.Pieces = append(whole.Pieces, x.Pieces[i:end]...)
		case clean.Unseen > 0:
			whole.Pieces = append(whole.Pieces, piece{Text: clean.Text, Thinking: clean.Thinking}, piece{Unseen: clean.Unseen})
		default:
			whole.Pieces = append(whole.Pieces, clean)
		}
		i = end
	}
	return cleaned(s, whole)
}
