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

// A RestConfig says how [Rotate] and [Failover] let be what failed. All but
// Cooldown are required.
type RestConfig struct {
	Rests    *Rests
	Now      func() time.Time
	Log      *slog.Logger
	Cooldown time.Duration // where the provider asks for no time; 0 means 60 s
}

// rest lets a name be after an error.
func (c RestConfig) rest(name string, err error) time.Duration {
	rest := cmp.Or(c.Cooldown, time.Minute)
	var pe *chela.ProviderError
	if errors.As(err, &pe) && pe.After > 0 {
		rest = pe.After
	}
	c.Rests.let(name, c.Now().Add(rest))
	return rest
}

// Rotate returns a provider that has several keys, each of which is a provider of
// its own. Where a key is refused (Denied) or used up (Exhausted), the next one is
// asked at once, and it rests. Keys that rest are passed over, unless all do.
// Name is that of the model; each of its keys rests by that name and its number.
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
	return func(yield func(chela.Chunk, error) bool) {
		r := relay{yield: yield}
		ready := p.cfg.Rests.ready(p.cfg.Now(), p.names)
		for n, i := range ready {
			last := n == len(ready)-1
			asked := *req
			asked.Hasty = req.Hasty || !last
			err := r.pass(p.keys[i].Stream(ctx, &asked))
			if err == nil {
				p.cfg.Rests.let(p.names[i], time.Time{})
				return
			}
			spent := ctx.Err() == nil && isOfKey(err)
			if spent {
				rest := p.cfg.rest(p.names[i], err)
				p.cfg.Log.Warn("key rests", "key", p.names[i], "for", rest, "error", err)
			}
			if !spent || last {
				r.fail(err)
				return
			}
		}
	}
}

// isOfKey reports whether a provider refused a key, or has had enough of it. Limits
// of one's own and a full disk are of the same kinds, and none of its doing.
func isOfKey(err error) bool {
	refused, ok := errors.AsType[*chela.ProviderError](err)
	return ok && (refused.Kind == chela.Denied || refused.Kind == chela.Exhausted)
}
