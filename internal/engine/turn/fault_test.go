package turn_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/model/provider"
)

// A fault is one way in which a request can fail: after something came or at once.
type fault struct {
	name string
	came []chela.Chunk
	err  chela.ProviderError
	hang bool
}

// faults are all ways there are, by kind, status, delay and moment.
var faults = []fault{
	{name: "rate", err: chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true}},
	{name: "rate with delay", err: chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 7 * time.Second}},
	{name: "rate with long delay", err: chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 10 * time.Minute}},
	{name: "quota", err: chela.ProviderError{Kind: chela.Exhausted, Status: 402}},
	{name: "key", err: chela.ProviderError{Kind: chela.Denied, Status: 401}},
	{name: "model", err: chela.ProviderError{Kind: chela.NotFound, Status: 404}},
	{name: "refused", err: chela.ProviderError{Kind: chela.Invalid, Status: 400}},
	{name: "overflow", err: chela.ProviderError{Kind: chela.Invalid, Status: 400, Overflow: true}},
	{name: "unsupported", err: chela.ProviderError{Kind: chela.Unsupported, Status: 501}},
	{name: "server", err: chela.ProviderError{Kind: chela.Unavailable, Status: 500, Retryable: true}},
	{name: "gateway", err: chela.ProviderError{Kind: chela.Unavailable, Status: 502, Retryable: true}},
	{name: "overloaded", err: chela.ProviderError{Kind: chela.Unavailable, Status: 529, Retryable: true, After: 3 * time.Second}},
	{name: "network", err: chela.ProviderError{Kind: chela.Unavailable, Retryable: true}},
	{name: "certificate", err: chela.ProviderError{Kind: chela.Unavailable}},
	{name: "cut", err: chela.ProviderError{Kind: chela.Unavailable, Status: 200, Cut: true, Retryable: true}},
	{name: "cut in the text", came: []chela.Chunk{{Text: "I w"}, {Text: "ill"}}, err: chela.ProviderError{Kind: chela.Unavailable, Status: 200, Cut: true, Retryable: true}},
	{name: "cut in a thought", came: []chela.Chunk{{Thinking: "hm"}}, err: chela.ProviderError{Kind: chela.Unavailable, Status: 200, Cut: true, Retryable: true}},
	{name: "garbage", came: []chela.Chunk{{Text: "I"}}, err: chela.ProviderError{Kind: chela.Unavailable, Status: 200, Retryable: true}},
	{name: "overloaded in the text", came: []chela.Chunk{{Text: "I"}}, err: chela.ProviderError{Kind: chela.Unavailable, Status: 200, Retryable: true}},
	{name: "hang", came: []chela.Chunk{{Text: "I"}}, hang: true},
}

// A weather makes the requests to a model fail, and takes note of what it did.
type weather struct {
	model    chela.Provider // of the turn that runs
	random   *rand.Rand
	requests int
	struck   map[string]int // by the name of the fault
	coming   []fault        // each way once before any comes again

	errors []incident    // of the stream that runs
	last   error         // of the last stream that failed
	lost   time.Duration // the most that may have been waited in this turn
	anew   int
}

type incident struct {
	model string
	err   error
}

// turnTime is how long a turn may take: what hangs hangs for that long.
const turnTime = 20 * time.Minute

// under returns the model with a key, as the weather lets it be reached.
func (w *weather) under(name string) chela.Provider {
	return streamed(func(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
		w.requests++
		if w.random.Float64() >= 0.3 {
			return w.model.Stream(ctx, req)
		}
		f := w.next()
		w.struck[f.name]++
		return func(yield func(chela.Chunk, error) bool) {
			for _, c := range f.came {
				if !yield(c, nil) {
					return
				}
			}
			var err error = &f.err
			f.err.Provider = name
			if f.hang {
				<-ctx.Done()
				err = ctx.Err()
			}
			w.errors = append(w.errors, incident{name, err})
			w.lost += f.wait()
			yield(chela.Chunk{}, err)
		}
	})
}

// next returns the next fault.
func (w *weather) next() fault {
	if len(w.coming) == 0 {
		for _, i := range w.random.Perm(len(faults)) {
			w.coming = append(w.coming, faults[i])
		}
	}
	f := w.coming[0]
	w.coming = w.coming[1:]
	return f
}

// wait is how long the chain may wait for a fault, as provider's doc.go says: 1 s
// and then 2 s, or as long as the provider asks for and up to half a second more.
func (f fault) wait() time.Duration {
	switch {
	case f.hang:
		return turnTime
	case !f.err.Retryable, f.err.After > provider.LongestWait:
		return 0
	case f.err.After > 0:
		return f.err.After + 500*time.Millisecond
	default:
		return 2 * time.Second
	}
}

// watched returns a chain whose streams are compared with what the weather did.
func (w *weather) watched(t *testing.T, chain chela.Provider) chela.Provider {
	return streamed(func(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
		w.errors, w.last = nil, nil
		return func(yield func(chela.Chunk, error) bool) {
			for c, err := range chain.Stream(ctx, req) {
				if c.Anew {
					w.anew++
				}
				if err != nil {
					w.last = err
					if want := w.expected(); chela.KindOf(err) != want {
						t.Errorf("the chain failed with %v, want an error that is %s of %v", err, want, w.errors)
					}
				}
				if !yield(c, err) {
					return
				}
			}
		}
	})
}

// expected is the kind of the error that a stream must end with: that of what no
// other model can do either, else the last one of the model that was asked first.
// Where none was asked, the breaker was open.
func (w *weather) expected() chela.Kind {
	if len(w.errors) == 0 {
		return chela.Unavailable
	}
	last := w.errors[len(w.errors)-1]
	if kind := chela.KindOf(last.err); kind == chela.Invalid || errors.Is(last.err, context.DeadlineExceeded) {
		return kind
	}
	first := last
	for _, e := range w.errors {
		if e.model == w.errors[0].model {
			first = e
		}
	}
	return chela.KindOf(first.err)
}

// streamed is a function that is a provider.
type streamed func(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error]

func (s streamed) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return s(ctx, req)
}

// chainOf puts together a chain as app/providers does, of models with so many keys.
func (w *weather) chainOf(keys int, models ...string) chela.Provider {
	wait := func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	log := slog.New(slog.DiscardHandler)
	rest := provider.RestConfig{Rests: &provider.Cooldowns{}, Now: time.Now, Log: log}
	var all []provider.Candidate
	for _, name := range models {
		var each []chela.Provider
		for range keys {
			each = append(each, provider.Retry(provider.Fallback(w.under(name)), provider.RetryConfig{Wait: wait, Random: w.random.Float64}))
		}
		all = append(all, provider.Candidate{Model: name, Name: "m", Provider: provider.Rotate(name, each, rest)})
	}
	return provider.Breaker(provider.Failover(all, rest), provider.BreakerConfig{Name: models[0], Now: time.Now, Log: log})
}

// TestFaults has a model fail in three of ten requests, in every way there is, in
// turns whose tools have effects. Each turn completes or ends with the error that
// ended its last request, no effect comes twice, and no more time is lost than the
// chain says that it waits.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		keys   int
		models []string
		least  int // of a hundred turns that complete
	}{
		{"one model", 1, []string{"p/m"}, 20},
		{"two keys", 2, []string{"p/m"}, 30},
		{"stand-ins", 2, []string{"p/m", "q/n", "r/o"}, 70},
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s %d", tt.name, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := &weather{random: rand.New(rand.NewPCG(seed, 7)), struck: map[string]int{}}
					chain := w.watched(t, w.chainOf(tt.keys, tt.models...))
					const turns = 60
					completed := 0
					for range turns {
						if w.turn(t, chain) == chela.TurnCompleted {
							completed++
						}
						<-time.After(time.Minute)
					}
					w.check(t, completed*100/turns, tt.least)
				})
			})
		}
	}
}

// turn runs one turn through a chain and returns how it ended.
func (w *weather) turn(t *testing.T, chain chela.Provider) chela.TurnState {
	r := newRig(t, say("a", "look a", "write b"), say("b", "write c"), say("c", "look d", "write e"), say("done"))
	r.cfg.Limits.Time = turnTime
	r.cfg.Log = slog.New(slog.DiscardHandler)
	r.chain, w.model, w.lost, w.last = chain, r.model, 0, nil
	began := time.Now()
	s, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > w.lost {
		t.Errorf("the turn took %v, and may have waited for %v", took, w.lost)
	}
	effects := []string{"look a", "write b", "write c", "look d", "write e"}
	done := r.done()
	if len(done) > len(effects) || !slices.Equal(done, effects[:len(done)]) {
		t.Errorf("the tools did %q", done)
	}
	f := s.Turn.Failure
	switch s.Turn.State {
	case chela.TurnCompleted:
		if len(done) != len(effects) || f != nil {
			t.Errorf("completed after %q with %+v", done, f)
		}
	case chela.TurnLimited:
		if f.Limit != chela.LimitTime || !errors.Is(w.last, context.DeadlineExceeded) {
			t.Errorf("limited with %+v after %v", f, w.last)
		}
	case chela.TurnFailed:
		pe, ok := errors.AsType[*chela.ProviderError](w.last)
		if !ok || f.Kind != pe.Kind || (f.Limit == chela.LimitPrompt) != pe.Overflow || !strings.HasPrefix(f.Message, chela.MessageOf(pe)) {
			t.Errorf("failed with %+v after %v", f, w.last)
		}
	default:
		t.Errorf("the turn is %s", s.Turn.State)
	}
	return s.Turn.State
}

// check looks at the whole: that the weather was as bad as it should be, and that
// as many turns complete as the chain makes possible.
func (w *weather) check(t *testing.T, completed, least int) {
	struck := 0
	for _, f := range faults {
		if w.struck[f.name] == 0 {
			t.Errorf("nothing failed by %s", f.name)
		}
		struck += w.struck[f.name]
	}
	if share := struck * 100 / w.requests; share < 25 || share > 35 {
		t.Errorf("%d of %d requests failed", struck, w.requests)
	}
	if completed < least || completed == 100 {
		t.Errorf("%d of a hundred turns completed, want at least %d and not all", completed, least)
	}
	if w.anew == 0 {
		t.Error("no answer was begun anew")
	}
	t.Logf("%d requests, %d failed, %d begun anew, %d of a hundred turns completed", w.requests, struck, w.anew, completed)
}
