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

// A CacheConfig holds the settings of [Cache]. Now is required.
type CacheConfig struct {
	Now     func() time.Time
	Keep    time.Duration // lifetime of an entry; 0 disables the cache
	Entries int           // most entries; 0 means 256
}

// Cache wraps p with a cache of answers: an identical request within the
// lifetime of its entry is answered at once, with no usage and no cost.
// Requests are identical if the model sees no difference. Answers with tool
// calls are never cached, since repeating a call may have unwanted effects; nor
// are truncated, refused and empty answers. The oldest entries are evicted
// first.
func Cache(p chela.Provider, cfg CacheConfig) chela.Provider {
	if cfg.Keep <= 0 {
		return p
	}
	cfg.Entries = cmp.Or(cfg.Entries, 256)
	return &cache{inner: p, cfg: cfg, known: map[question]answer{}}
}

// A question is the hash of the model's view of a request.
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

// questionOf hashes the model's view of a request. The hash includes internal
// call ids, which differ from turn to turn, so a conversation with calls never
// hits the cache.
func questionOf(req *chela.Request) question {
	h := sha256.New()
	// These types always encode, and writing to a hash never fails.
	_ = json.NewEncoder(h).Encode([]any{req.Model, req.System, req.Messages, req.Tools, req.Thinking, req.MaxTokens, req.Sampling})
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

// keep stores a cacheable answer.
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
