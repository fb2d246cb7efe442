package provider_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/model/provider"
)

// candidates are models a/1, b/2 and so on, of fakes that end so.
func candidates(models ...[]end) (all []provider.Candidate, fakes []*fake) {
	for i, ends := range models {
		letter, digit := string(rune('a'+i)), string(rune('1'+i))
		f := &fake{ends: ends}
		fakes = append(fakes, f)
		c := provider.Candidate{Model: letter + "/" + digit, Name: digit, Provider: f}
		if _, ok := errors.AsType[*chela.Error](ends[0].err); ok {
			c = missing(c, ends[0].err)
		}
		all = append(all, c)
	}
	return all, fakes
}

// missing returns a candidate that cannot be had.
func missing(c provider.Candidate, why error) provider.Candidate {
	return provider.Candidate{Model: c.Model, Find: func() (provider.Candidate, error) { return provider.Candidate{}, why }}
}

func TestFailover(t *testing.T) {
	t.Parallel()
	ok := end{texts: []string{"a"}}
	of := func(kind chela.Kind) end { return failed(chela.ProviderError{Kind: kind, Retryable: true}) }
	late := failed(chela.ProviderError{Kind: chela.Unavailable, Cut: true}, "x")
	overflow := failed(chela.ProviderError{Kind: chela.Invalid, Overflow: true})
	torn := end{err: errors.New("no such picture")}
	noKey := end{err: chela.E(chela.Denied, "provider a has no key")}
	type test struct {
		name   string
		models [][]end
		want   end
		served string
		asked  []int
	}
	tests := []test{
		{"first works", [][]end{{ok}, {ok}}, ok, "", []int{1, 0}},
		{"no key for the first", [][]end{{noKey}, {ok}}, ok, "b/2", []int{0, 1}},
		{"third works", [][]end{{of(chela.Unavailable)}, {noKey}, {ok}}, ok, "c/3", []int{1, 0, 1}},
		{"cut after something was said", [][]end{{late}, {ok}}, end{texts: []string{"x", anew, "a"}}, "b/2", []int{1, 1}},
		{"does not fit the first", [][]end{{overflow}, {ok}}, overflow, "", []int{1, 0}},
		{"does not fit the second", [][]end{{of(chela.Unavailable)}, {overflow}, {ok}}, ok, "c/3", []int{1, 1, 1}},
		{"none of the providers'", [][]end{{torn}, {ok}}, torn, "", []int{1, 0}},
	}
	for _, kind := range []chela.Kind{chela.Unavailable, chela.Exhausted, chela.Denied, chela.NotFound, chela.Unsupported} {
		tests = append(tests, test{string(kind), [][]end{{of(kind)}, {ok}}, ok, "b/2", []int{1, 1}})
	}
	for _, kind := range []chela.Kind{chela.Invalid, chela.Internal, chela.Conflict} {
		e := of(kind)
		tests = append(tests, test{string(kind), [][]end{{e}, {ok}}, e, "", []int{1, 0}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, fakes := candidates(tt.models...)
			texts, finish, err := drained(t, provider.Failover(all, resting()).Stream(t.Context(), &chela.Request{Model: "1"}))
			checkEnd(t, texts, err, tt.want)
			if err == nil && (finish.Served != tt.served || (finish.Since == "") != (tt.served == "")) {
				t.Errorf("served by %q since %q, want %q", finish.Served, finish.Since, tt.served)
			}
			for i, f := range fakes {
				if f.asked() != tt.asked[i] {
					t.Errorf("%s was asked %d times, want %d", all[i].Model, f.asked(), tt.asked[i])
				}
				if f.asked() > 0 && (f.names[0] != all[i].Name || f.hasty[0] == (i == len(fakes)-1)) {
					t.Errorf("%s was asked for %q, in haste: %t", all[i].Model, f.names[0], f.hasty[0])
				}
			}
		})
	}
}

// TestFailoverTellsOfAll says with the first error what became of the others.
func TestFailoverTellsOfAll(t *testing.T) {
	t.Parallel()
	all, _ := candidates(
		[]end{failed(chela.ProviderError{Provider: "a", Kind: chela.Unavailable, Status: 503, After: time.Minute, Msg: "away"})},
		[]end{failed(chela.ProviderError{Provider: "b", Kind: chela.Denied, Status: 401, Msg: "bad key"})},
	)
	_, err := drain(t, provider.Failover(all, resting()).Stream(t.Context(), &chela.Request{}))
	want := chela.ProviderError{
		Provider: "a", Kind: chela.Unavailable, Status: 503, After: time.Minute, Msg: "away; then b answered 401: bad key",
	}
	got, ok := errors.AsType[*chela.ProviderError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	checkDiff(t, want, *got)

	all[0] = missing(all[0], chela.E(chela.Denied, "a has no key").WithHint("set A_KEY"))
	_, err = drain(t, provider.Failover(all, resting()).Stream(t.Context(), &chela.Request{}))
	checkDiff(t, "a has no key; then b answered 401: bad key; set A_KEY", chela.MessageOf(err))
}

// TestFailoverEndsWithItsContext does not ask the next model when the caller is
// gone.
func TestFailoverEndsWithItsContext(t *testing.T) {
	t.Parallel()
	all, fakes := candidates([]end{{texts: []string{"a"}}}, []end{{texts: []string{"b"}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := drain(t, provider.Failover(all, resting()).Stream(ctx, &chela.Request{}))
	if !errors.Is(err, context.Canceled) || fakes[1].asked() != 0 {
		t.Errorf("got %v after asking %d times", err, fakes[1].asked())
	}
	all, _ = candidates([]end{failed(chela.ProviderError{Kind: chela.Unavailable})}, []end{{err: context.Canceled}})
	_, err = drain(t, provider.Failover(all, resting()).Stream(ctx, &chela.Request{}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the second one was cancelled, and the error is %v", err)
	}
}

// TestFailoverLetsModelsRest passes a model over that failed, and comes back to it
// when its rest is over.
func TestFailoverLetsModelsRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ok := end{texts: []string{"a"}}
		all, fakes := candidates([]end{failed(chela.ProviderError{Kind: chela.Unavailable}), ok}, []end{ok})
		cfg := resting()
		cfg.Cooldown = 10 * time.Second
		p := provider.Failover(all, cfg)
		for _, step := range []struct {
			after time.Duration
			asked [2]int
		}{
			{0, [2]int{1, 1}},
			{9 * time.Second, [2]int{1, 2}},
			{time.Second, [2]int{2, 2}},
		} {
			if err := wait(t.Context(), step.after); err != nil {
				t.Fatal(err)
			}
			if _, err := drain(t, p.Stream(t.Context(), &chela.Request{})); err != nil {
				t.Error(err)
			}
			checkDiff(t, step.asked, [2]int{fakes[0].asked(), fakes[1].asked()})
		}
	})
}
