package provider

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strconv"
	"time"

	"chela"
)

// A RestConfig holds the cooldown settings of [Rotate] and [Failover]. All
// fields but Cooldown are required.
type RestConfig struct {
	Rests    *Cooldowns
	Now      func() time.Time
	Log      *slog.Logger
	Cooldown time.Duration // default without a Retry-After; 0 means 60 s
}

// rest puts a name into cooldown after an error.
func (c RestConfig) rest(name string, err error) time.Duration {
	rest := cmp.Or(c.Cooldown, time.Minute)
	if pe, ok := errors.AsType[*chela.ProviderError](err); ok && pe.After > 0 {
		rest = pe.After
	}
	c.Rests.let(name, c.Now().Add(rest))
	return rest
}

// Rotate returns a provider over several keys, each a provider of its own. If a
// key is refused (Denied) or used up (Exhausted), it enters cooldown and the
// next key is asked at once. Keys in cooldown are skipped, unless all are. Name
// is the model's; a key's cooldown is stored under that name and the key's
// index.
func Rotate(name string, keys []chela.Provider, cfg RestConfig) chela.Provider {
	if len(keys) == 1 {
		return keys[0]
	}
	p := rotation{keys: keys, cfg: cfg}
	for i := range keys {
		p.names = append(p.names, name+" key "+strconv.Itoa(i+1))
	}
	return p
}

type rotation struct {
	keys  []chela.Provider
	names []string
	cfg   RestConfig
}

func (p rotation) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return relayed(func(r *relay) error {
		ready := p.cfg.Rests.ready(p.cfg.Now(), p.names)
		for n, i := range ready {
			last := n == len(ready)-1
			asked := *req
			asked.Hasty = req.Hasty || !last
			err := r.pass(p.keys[i].Stream(ctx, &asked))
			if err == nil {
				p.cfg.Rests.let(p.names[i], time.Time{})
				return nil
			}
			if ctx.Err() != nil || !isOfKey(err) {
				return err
			}
			rest := p.cfg.rest(p.names[i], err)
			p.cfg.Log.Warn("key in cooldown", "key", p.names[i], "for", rest, "error", err)
			if last {
				return err
			}
		}
		return nil
	})
}

// isOfKey reports whether a provider rejected a key or its quota. Local limits
// and a full disk have the same kinds but are not the provider's.
func isOfKey(err error) bool {
	refused, ok := errors.AsType[*chela.ProviderError](err)
	return ok && (refused.Kind == chela.Denied || refused.Kind == chela.Exhausted)
}
