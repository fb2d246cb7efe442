// Package providertest holds the contract that every provider keeps, one case
// for each way in X
package providertest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela"
)

// Key is the only credential that the servers of this package accept.
const Key = "sk-test-4f1d9c27b85a4e06"

// A Harness makes the providers that are held to the contract.
type Harness struct {
	// New returns a provider whose model side does what c tells. What it
	// opens is closed by t.Cleanup.
	New func(t *testing.T, c Case) chela.Provider

	// Model is the model asked for; empty means "test-model".
	Model string

	// Wire says that the model side is a server that records what it was
	// sent with [Case.Record]; the contract then looks at that too.
	Wire bool

	// Unscripted says that the model side answers as it likes. Cases that
	// need a certain answer are skipped, the others look at the form of the
	// answer only.
	Unscripted bool

	// Skip holds the reason for each case that does not apply, by its name.
	Skip map[string]string
}

// A Case tells what the model side does. Each request gets the next answer,
// and the last one is repeated.
type Case struct {
	Name    string
	Answers []Answer

	log *received
}

// NewCase returns a case for a test of its own, outside [Run].
func NewCase(name string, answers ...Answer) Case {
	return Case{Name: name, Answers: answers, log: &received{}}
}

// Received returns the requests that were recorded so far.
func (c Case) Received() []ReceivedRequest {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return slices.Clone(c.log.all)
}

// Answer returns the answer to the n-th request, counted from 0.
func (c Case) Answer(n int) Answer { return c.Answers[min(n, len(c.Answers)-1)] }

// Record notes what a server was sent. It may be called concurrently.
func (c Case) Record(r ReceivedRequest) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.all = append(c.log.all, r)
}

// An Answer is what the model side does with one request.
type Answer struct {
	Thinking string           // reasoning, ahead of the text
	Text     []string         // the pieces in which the text is streamed
	Echo     bool             // instead of Text, say the text of the newest message
	Calls    []Call           // after the text
	Stop     chela.StopReason // empty: StopCalls if there are calls, else StopEnd
	Usage    chela.TokenUsage

	Fault Fault
	After time.Duration // told with FaultRate
	Split int           // bytes in each write of the stream; 0 means an event in each
}

// A Call is a tool call as the model writes it.
type Call struct {
	Ref  string
	Tool string
	Args string // not necessarily JSON
}

// A Fault is something that goes wrong with an answer.
type Fault string

// The faults. The first group refuses the request. The second comes after the
// thinking, text and calls of the answer went out, in place of its end.
const (
	FaultRate       Fault = "rate"       // too many requests, wait for Answer.After
	FaultQuota      Fault = "quota"      // the account has nothing left; waiting does not help
	FaultKey        Fault = "key"        // the credentials are wrong
	FaultOverflow   Fault = "overflow"   // the prompt does not fit the model
	FaultModel      Fault = "model"      // there is no such model
	FaultRefused    Fault = "refused"    // the request is not understood
	FaultServer     Fault = "server"     // the server broke down
	FaultOverloaded Fault = "overloaded" // the server has no room now
	FaultPage       Fault = "page"       // a page for people, as proxies send it, with status 502

	FaultCut     Fault = "cut"     // the connection is torn
	FaultEnd     Fault = "end"     // the stream ends as if it were complete
	FaultGarbage Fault = "garbage" // an event that cannot be read
	FaultEvent   Fault = "event"   // an event that tells of an overloaded server
	FaultHang    Fault = "hang"    // nothing more comes until the caller is gone
	FaultSilent  Fault = "silent"  // headers alone come, then nothing until the caller is gone

	// These send [Endless] bytes unless the caller goes before.
	FaultEndless      Fault = "endless"       // the answer is repeated over and over
	FaultEndlessEvent Fault = "endless event" // one event, or an answer in one piece, goes on and on
)

// Endless is how many bytes stand for an answer without end.
const Endless = 256 << 20

// Refuses reports whether the fault refuses the request as a whole.
func (f Fault) Refuses() bool {
	switch f {
	case "", FaultCut, FaultEnd, FaultGarbage, FaultEvent, FaultHang, FaultSilent, FaultEndless, FaultEndlessEvent:
		return false
	default:
		return true
	}
}

// A ReceivedRequest is a request to a server, in the words of the contract.
type ReceivedRequest struct {
	Plain     bool // no stream was asked for
	System    string
	Texts     []string // of messages and results, in order, without empty ones
	Images    []string // SHA-256 of each image, in order, in hex
	Thinking  []string // blocks sent back, in order: text and signature, or what was redacted
	Failed    int      // results marked as failed, if the wire can mark them
	MaxTokens int
	Marks     int // marks for the prompt cache
}

// received is the log behind a case.
type received struct {
	mu  sync.Mutex
	all []ReceivedRequest // guarded by mu
}

// Run holds the providers of h to the contract, one subtest for each case. The
// subtests run one after the other, since each looks for goroutines left
// behind.
func Run(t *testing.T, h Harness) {
	t.Helper()
	all := contract()
	skipped := 0
	for _, cl := range all {
		t.Run(cl.Name, func(t *testing.T) {
			reason, skip := h.Skip[cl.Name]
			if !skip && h.Unscripted && cl.scripted {
				reason, skip = "the model side cannot be told what to answer", true
			}
			if skip {
				skipped++
				t.Skip(reason)
			}
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			cl.log = &received{}
			cl.check(&run{T: t, h: h, c: cl.Case, p: h.New(t, cl.Case)})
		})
	}
	for name := range h.Skip {
		if !slices.ContainsFunc(all, func(cl clause) bool { return cl.Name == name }) {
			t.Errorf("skip of %q: there is no such case", name)
		}
	}
	t.Logf("%d of %d cases skipped", skipped, len(all))
}

// A clause is one case of the contract and what must hold in it.
type clause struct {
	Case
	scripted bool // makes no sense unless the model side does what the case tells
	check    func(r *run)
}

// contract returns every clause. Answers are fixed when the clause is made;
// what must hold is in the function beside it.
func contract() []clause {
	return slices.Concat(answers(), calls(), transcripts(), refusals(), broken(), stops())
}

// Sum returns the SHA-256 of raw in hex, as [ReceivedRequest] has it of images.
func Sum(raw []byte) string {
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:])
}
