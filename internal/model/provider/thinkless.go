package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// Thinkless retries a request whose thinking level the model refuses, once and without a
// level, and leaves that level out of later requests to the model. The providers map
// levels to what their models accept as far as that is known; a server may have models
// that nobody knows, or a newer rule.
func Thinkless(p chela.Provider) chela.Provider {
	return &thinkless{inner: p, refused: map[thinkingOf]bool{}}
}

// A thinkingOf is a thinking level of a model.
type thinkingOf struct {
	model string
	level chela.ThinkingLevel
}

type thinkless struct {
	inner chela.Provider

	mu      sync.Mutex
	refused map[thinkingOf]bool // guarded by mu; up to maxRefusedLevels
}

// maxRefusedLevels bounds what is remembered: clients name models.
const maxRefusedLevels = 1000

// noThinking matches the refusals of thinking, or of its level, by Anthropic ("does not
// support thinking", "adaptive thinking is not supported on this model", "thinking: Extra
// inputs are not permitted"), Google ("Thinking is not enabled for models/…", "Thinking
// level HIGH is not supported for this model", "Budget 0 is invalid. This model only works
// in thinking mode."), Ollama ("does not support thinking", "invalid think value"), Bedrock
// ("extraneous key [reasoningConfig] is not permitted") and servers that speak OpenAI's
// protocol ("reasoning_effort is not supported", "Reasoning is mandatory for this
// endpoint").
var noThinking = lazyregexp.New(`(?i)\b(think|thinking|reasoning|thinking_?(budget|level|config)|reasoning_?(config|effort))\b.*` +
	`(not support|n't support|unsupported|not enabled|not permitted|not allowed|not available|mandatory|invalid|unknown|unrecognized)|` +
	`(not support|n't support|unsupported|not permitted|invalid|unknown|unrecognized|extraneous|only works)\b.*` +
	`\b(think|thinking|reasoning|thinking_?(budget|level|config)|reasoning_?(config|effort))\b`)

// refusesThinking reports whether an error is the refusal of a thinking level. Anthropic
// also refuses past thinking whose signature is wrong, which is not cured by it.
func refusesThinking(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	return ok && !pe.Overflow &&
		(pe.Status == http.StatusBadRequest || pe.Status == http.StatusUnprocessableEntity) && noThinking().MatchString(pe.Msg) &&
		!strings.Contains(strings.ToLower(pe.Msg), "signature")
}

// Stream implements [chela.Provider].
func (t *thinkless) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return relayed(func(r *relay) error {
		err := r.pass(t.inner.Stream(ctx, t.accepted(req)))
		if err == nil || r.seen || ctx.Err() != nil || !refusesThinking(err) || !t.learn(req) {
			return err
		}
		return r.pass(t.inner.Stream(ctx, t.accepted(req)))
	})
}

// accepted returns a request without a level that was refused before.
func (t *thinkless) accepted(req *chela.Request) *chela.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req.Thinking == "" || !t.refused[thinkingOf{req.Model, req.Thinking}] {
		return req
	}
	changed := *req
	changed.Thinking = ""
	return &changed
}

// learn remembers a refused level, and reports whether the next request will differ.
func (t *thinkless) learn(req *chela.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := thinkingOf{req.Model, req.Thinking}
	if req.Thinking == "" || t.refused[of] || len(t.refused) >= maxRefusedLevels {
		return false
	}
	t.refused[of] = true
	return true
}
