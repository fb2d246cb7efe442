package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"chela"
)

// A Candidate is a model that may answer.
type Candidate struct {
	Model     string // provider/model
	Name      string // as its provider knows it
	Provider  chela.Provider
	MaxOutput int // tokens of an answer, more than which it is not asked for; 0 if that is not known

	// Find looks for one that has no Provider, whenever it is to be asked. Its error
	// says why the model cannot be had, such as for want of a key.
	Find func() (Candidate, error)
}

// found returns a candidate that can be asked.
func (c Candidate) found() (Candidate, error) {
	if c.Provider != nil {
		return c, nil
	}
	return c.Find()
}

// Failover returns a provider that asks the first of some models, and the next one
// where that fails for a reason which another may not have: Unavailable,
// Exhausted, Denied, NotFound and Unsupported. Trouble that no provider tells of,
// as with an attachment that cannot be read, is none of theirs and ends the stream.
// A model that failed rests, unless it only does not support what this request
// wants; while others do not rest, it is passed over. The answer of any but the
// first says in its Finish who gave it, and why. If all fail, the error is that of the
// first one asked, and tells what the others said.
func Failover(candidates []Candidate, cfg RestConfig) chela.Provider {
	p := failover{candidates: candidates, cfg: cfg}
	for _, c := range candidates {
		p.models = append(p.models, c.Model)
	}
	return p
}

type failover struct {
	candidates []Candidate
	models     []string
	cfg        RestConfig
}

func (p failover) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		r := relay{yield: yield}
		ready := p.cfg.Rests.ready(p.cfg.Now(), p.models)
		var failed error
		for n, i := range ready {
			last := n == len(ready)-1
			c, err := p.candidates[i].found()
			there := err == nil
			if there {
				answer := c.ask(ctx, req, !last)
				if i > 0 {
					answer = standIn(answer, p.models[i], failed)
				}
				err = r.pass(answer)
			}
			if err == nil {
				p.cfg.Rests.let(p.models[i], time.Time{})
				return
			}
			// What does not fit a stand-in says nothing of the model before it.
			small := failed != nil && isOverflow(err)
			if ctx.Err() != nil || there && !small && !mayWorkElsewhere(err) { // it is nobody's, or the caller is gone
				r.fail(err)
				return
			}
			failed = joined(failed, err)
			if len(p.models) > 1 && !small && chela.KindOf(err) != chela.Unsupported {
				rest := p.cfg.rest(p.models[i], err)
				p.cfg.Log.Warn("model rests", "model", p.models[i], "for", rest, "error", err)
			}
		}
		r.fail(failed)
	}
}

// ask asks a candidate.
func (c Candidate) ask(ctx context.Context, req *chela.Request, hasty bool) iter.Seq2[chela.Chunk, error] {
	asked := *req
	asked.Model, asked.Hasty = c.Name, req.Hasty || hasty
	if c.MaxOutput > 0 {
		asked.MaxTokens = min(asked.MaxTokens, c.MaxOutput)
	}
	return c.Provider.Stream(ctx, &asked)
}

// standIn lets a finish tell which model answered in place of the first, and why:
// failed is what became of those before it, nil if they rest.
func standIn(stream iter.Seq2[chela.Chunk, error], model string, failed error) iter.Seq2[chela.Chunk, error] {
	since := "it failed before and rests"
	if failed != nil {
		since = chela.MessageOf(failed)
	}
	return func(yield func(chela.Chunk, error) bool) {
		for chunk, err := range stream {
			if chunk.Finish != nil {
				served := *chunk.Finish
				served.Served, served.Since = model, since
				chunk.Finish = &served
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// mayWorkElsewhere reports whether another model may do what one could not.
func mayWorkElsewhere(err error) bool {
	var pe *chela.ProviderError
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Kind {
	case chela.Unavailable, chela.Exhausted, chela.Denied, chela.NotFound, chela.Unsupported:
		return true
	default:
		return false
	}
}

// isOverflow reports whether the prompt was too large for who was asked.
func isOverflow(err error) bool {
	var pe *chela.ProviderError
	return errors.As(err, &pe) && pe.Overflow
}

// joined returns the error of the first model that was asked, with what another
// one said after it.
func joined(first, next error) error {
	var pe *chela.ProviderError
	var e *chela.Error
	switch {
	case first == nil:
		return next
	case errors.As(first, &pe):
		both := *pe
		both.Msg = fmt.Sprintf("%s; then %s", pe.Msg, chela.MessageOf(next))
		return &both
	case errors.As(first, &e): // it could not be asked at all
		both := *e
		both.Msg = fmt.Sprintf("%s; then %s", e.Msg, chela.MessageOf(next))
		return &both
	default:
		return first
	}
}
