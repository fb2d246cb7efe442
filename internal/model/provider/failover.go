package provider

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"chela"
)

// A Candidate is a model that may answer.
type Candidate struct {
	Model     string // provider/model
	Name      string // name at its provider
	Provider  chela.Provider
	MaxOutput int // the model's output limit, in tokens, a cap for requests; 0 if unknown

	// Find resolves a candidate without a Provider whenever it is due to be
	// asked. Its error is the reason why the model is unavailable, such as a
	// missing key.
	Find func() (Candidate, error)
}

// found returns a resolved candidate.
func (c Candidate) found() (Candidate, error) {
	if c.Provider != nil {
		return c, nil
	}
	return c.Find()
}

// Failover returns a provider that asks candidates in order. It moves on after
// errors that another model may not have: Unavailable, Exhausted, Denied,
// NotFound and Unsupported. Errors that are not a provider's, such as an
// unreadable attachment, end the stream. A failed model enters cooldown and is
// skipped while others are available, except after Unsupported, which concerns
// this request only. The Finish of a stand-in names the model and the reason.
// If all fail, the error is the first one, with the messages of the others
// appended.
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
	return relayed(func(r *relay) error {
		ready := p.cfg.Rests.ready(p.cfg.Now(), p.models)
		var failed error
		for n, i := range ready {
			c, err := p.candidates[i].found()
			there := err == nil
			if there {
				answer := c.ask(ctx, req, n < len(ready)-1)
				if i > 0 {
					answer = standIn(answer, p.models[i], failed)
				}
				err = r.pass(answer)
			}
			if err == nil {
				p.cfg.Rests.let(p.models[i], time.Time{})
				return nil
			}
			// An overflow of a stand-in does not replace the error of the model
			// before it.
			small := failed != nil && isOverflow(err)
			if ctx.Err() != nil || there && !small && !mayWorkElsewhere(err) { // not a provider's error, or the caller is gone
				return err
			}
			failed = joined(failed, err)
			if len(p.models) > 1 && !small && chela.KindOf(err) != chela.Unsupported {
				rest := p.cfg.rest(p.models[i], err)
				p.cfg.Log.Warn("model in cooldown", "model", p.models[i], "for", rest, "error", err)
			}
		}
		return failed
	})
}

// ask streams from a candidate.
func (c Candidate) ask(ctx context.Context, req *chela.Request, hasty bool) iter.Seq2[chela.Chunk, error] {
	asked := *req
	asked.Model, asked.Hasty = c.Name, req.Hasty || hasty
	if c.MaxOutput > 0 {
		asked.MaxTokens = min(asked.MaxTokens, c.MaxOutput)
	}
	return c.Provider.Stream(withHaste(ctx, hasty), &asked)
}

// standIn records in a finish which model answered instead of the first, and
// why: failed is the error of the models before it, nil if they are in
// cooldown.
func standIn(stream iter.Seq2[chela.Chunk, error], model string, failed error) iter.Seq2[chela.Chunk, error] {
	since := "it is in cooldown after a failure"
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

// mayWorkElsewhere reports whether another model may succeed after this error.
func mayWorkElsewhere(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	return ok && slices.Contains([]chela.Kind{chela.Unavailable, chela.Exhausted, chela.Denied, chela.NotFound, chela.Unsupported}, pe.Kind)
}

// isOverflow reports whether the prompt exceeded the window of the model.
func isOverflow(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	return ok && pe.Overflow
}

// joined returns the first error, with the message of a later one appended.
func joined(first, next error) error {
	then := "; then " + chela.MessageOf(next)
	if first == nil {
		return next
	}
	if pe, ok := errors.AsType[*chela.ProviderError](first); ok {
		both := *pe
		both.Msg += then
		return &both
	}
	if e, ok := errors.AsType[*chela.Error](first); ok { // it could not be resolved
		both := *e
		both.Msg += then
		return &both
	}
	return first
}
