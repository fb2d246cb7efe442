package provider

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"chela"
)

// A CacheConfig says what [Cache] keeps. Now is required.
type CacheConfig struct {
	Now     func() time.Time
	Keep    time.Duration // how long an answer is good for; 0 means that nothing is kept
	Entries int           // the most that are kept; 0 means 256
}

// Cache returns p with a memory of its answers: who asks the same again while the
// answer is good gets it at once, with no tokens used and nothing to pay. The same
// is a request that the model sees no difference in. Answers that call tools are
// never kept, as calling once more has effects that nobody asked for; neither are
// answers that were cut or refused, or say nothing. The oldest make room for new ones.
func Cache(p chela.Provider, cfg CacheConfig) chela.Provider {
	if cfg.Keep <= 0 {
		return p
	}
	cfg.Entries = cmp.Or(cfg.Entries, 256)
	return &cache{inner: p, cfg: cfg, known: map[question]answer{}}
}

// A question is the hash of what a model sees.
type question [sha256.Size]byte

type answer struct {
	finish chela.Finish
	until  time.Time
}

type cache struct {
	inner chela.Provider
	cfg   CacheConfig

	mu    sync.Mutex
	known map[question]answer // guarded by mu
	order []question          // guarded by mu; the keys of known, oldest first
}

func (c *cache) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		q := questionOf(req)
		if f, ok := c.find(q); ok {
			if f.Text == "" || yield(chela.Chunk{Text: f.Text}, nil) {
				yield(chela.Chunk{Finish: &f}, nil)
			}
			return
		}
		for chunk, err := range c.inner.Stream(ctx, req) {
			if chunk.Finish != nil {
				c.keep(q, *chunk.Finish)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// questionOf hashes what a model sees of a request. Names that chela alone gives
// to calls are not part of that, but they differ from turn to turn, so a
// conversation with calls is never the same as another.
func questionOf(req *chela.Request) question {
	h := sha256.New()
	// These types can always be encoded, and a hash takes everything.
	_ = json.NewEncoder(h).Encode([]any{req.Model, req.System, req.Messages, req.Tools, req.Thinking, req.MaxTokens})
	return question(h.Sum(nil))
}

func (c *cache) find(q question) (chela.Finish, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.known[q]
	if !ok || !c.cfg.Now().Before(a.until) {
		return chela.Finish{}, false
	}
	return a.finish, true
}

// keep keeps an answer that may be given again.
func (c *cache) keep(q question, f chela.Finish) {
	if len(f.Calls) > 0 || f.Stop != chela.StopEnd || f.Text == "" {
		return
	}
	f.Usage, f.Charge, f.Since, f.Known = chela.TokenUsage{}, chela.Charge{}, "", true
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[q]; !ok {
		c.order = append(c.order, q)
	}
	c.known[q] = answer{finish: f, until: c.cfg.Now().Add(c.cfg.Keep)}
	for len(c.order) > c.cfg.Entries {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
}
