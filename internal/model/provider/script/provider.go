package script

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"chela"
	"chela/internal/model/provider/wire"
	"chela/internal/platform/local"
)

// Kind is the kind of this provider, and the tag of its thinking blocks.
const Kind = "script"

// Config holds playback options. The zero value works.
type Config struct {
	Name string // configured name, for errors; "script" if empty

	// Wait returns after d, or with ctx's error if ctx is done first. Nil means
	// real time.
	Wait func(ctx context.Context, d time.Duration) error
}

// A Provider plays a scenario. It is safe for concurrent use.
type Provider struct {
	scenario *Scenario
	guard    wire.Guard
	wait     func(ctx context.Context, d time.Duration) error

	mu       sync.Mutex
	attempts map[[sha256.Size]byte]int // guarded by mu, as the record file is; for requests whose fault has times
}

// Open returns a provider that plays the scenario in the named file. Its errors
// are those of [Load]. The provider needs no closing.
func Open(path string) (*Provider, error) {
	s, err := Load(path)
	if err != nil {
		return nil, err
	}
	return New(s, Config{}), nil
}

// New returns a provider that plays s.
func New(s *Scenario, cfg Config) *Provider {
	p := &Provider{
		scenario: s,
		guard:    wire.Guard{Provider: cmp.Or(cfg.Name, Kind)},
		wait:     cfg.Wait,
		attempts: map[[sha256.Size]byte]int{},
	}
	if p.wait == nil {
		p.wait = local.Sleep
	}
	return p
}

// Window returns the scenario's window of the model, in tokens; 0 if unset.
func (p *Provider) Window(string) int { return p.scenario.Window }

// Stream answers req with the step at its place, as [chela.Provider] specifies.
// It returns Invalid if the scenario has no step for req, or if an expectation
// fails.
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return wire.Stream(ctx, func(ctx context.Context, emit wire.EmitFunc) (*chela.Finish, error) {
		return p.play(ctx, req, emit)
	})
}

// play emits the chunks of the answer and returns its finish.
func (p *Provider) play(ctx context.Context, req *chela.Request, emit wire.EmitFunc) (*chela.Finish, error) {
	if err := p.record(req); err != nil {
		failed := p.invalid("cannot record the request")
		failed.Err = err
		return nil, failed
	}
	at := locate(req.Messages)
	c, err := p.scenario.pick(&at)
	if err != nil {
		return nil, p.invalid(err.Error())
	}
	if c.step == nil {
		c.step = &step{Text: at.echo()}
	}
	if unmet := c.Expect.check(req, &at); unmet != "" {
		return nil, p.invalid(c.name + ": " + unmet)
	}
	f, err := c.finish(req, &at)
	if err != nil {
		return nil, p.invalid(c.name + ": " + err.Error())
	}
	if err := p.pause(ctx, c.DelayMS); err != nil {
		return nil, err
	}
	chunks := c.chunks(f, req.Plain)
	strike := p.strike(c.step, req, len(chunks))
	for i := range len(chunks) + 1 { // the last one is the finish
		if i == strike {
			return nil, p.fail(ctx, c.Fault, i)
		}
		if i > 0 && !req.Plain {
			if err := p.pause(ctx, c.ChunkDelayMS); err != nil {
				return nil, err
			}
		}
		if i < len(chunks) {
			emit(chunks[i])
		}
	}
	return f, nil
}

// pause waits for so many milliseconds. It returns ctx's error if ctx is done.
func (p *Provider) pause(ctx context.Context, ms int) error {
	if ms == 0 {
		return ctx.Err()
	}
	return p.wait(ctx, time.Duration(ms)*time.Millisecond)
}

// strike returns the index of the chunk before which the step's fault occurs: n is
// that of the finish, and -1 stands for none.
func (p *Provider) strike(st *step, req *chela.Request, n int) int {
	switch {
	case st.Fault == nil:
		return -1
	case st.Fault.Times > 0 && p.attempt(req) > st.Fault.Times:
		return -1
	default:
		return min(st.Fault.After, n)
	}
}

// attempt counts the requests with the same prompt and session, including this
// one.
func (p *Provider) attempt(req *chela.Request) int {
	h := sha256.New()
	// Strings and numbers only: encoding and hashing cannot fail.
	_ = json.NewEncoder(h).Encode(req.Session)
	_ = json.NewEncoder(h).Encode(req.Messages)
	key := [sha256.Size]byte(h.Sum(nil))

	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts[key]++
	return p.attempts[key]
}

func (p *Provider) invalid(msg string) *chela.ProviderError {
	if p.scenario.Name != "" {
		msg = fmt.Sprintf("scenario %q: %s", p.scenario.Name, msg)
	}
	return p.guard.Unsent(chela.Invalid, msg)
}

// fail performs a fault after so many chunks.
func (p *Provider) fail(ctx context.Context, f *fault, came int) error {
	e := p.guard.Refused(f.Status, http.Header{}, nil)
	msg := cmp.Or(http.StatusText(f.Status), "failed")
	switch {
	case f.Hang:
		<-ctx.Done()
		return ctx.Err()
	case f.Cut:
		e = p.guard.Error(chela.Unavailable, "")
		e.Cut, e.Retryable, msg = true, true, "the stream ended before its end"
	case f.Overflow:
		e = p.guard.Error(chela.Invalid, "")
		e.Overflow, e.Status, msg = true, http.StatusBadRequest, "the prompt is too long"
	}
	e.After = time.Duration(f.RetryAfterMS) * time.Millisecond
	e.Unpaid = came == 0 && wire.Refuses(e.Status)
	e.Msg = p.guard.Error("", cmp.Or(f.Message, msg)).Msg
	return e
}
