package provider_test

import (
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/model/provider"
)

// resting is how the tests let be what failed.
func resting() provider.RestConfig {
	return provider.RestConfig{Rests: &provider.Cooldowns{}, Now: time.Now, Log: discard()}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	ok := end{texts: []string{"a"}}
	badKey := failed(chela.ProviderError{Kind: chela.Denied, Status: 401})
	rated := failed(chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 5 * time.Second})
	noCredit := failed(chela.ProviderError{Kind: chela.Exhausted, Status: 402})
	broken := failed(chela.ProviderError{Kind: chela.Unavailable, Status: 500})
	limited := end{err: &chela.Error{Kind: chela.Exhausted, Limit: chela.LimitDay, Msg: "$1 of $1 is spent"}}
	readOnly := end{err: chela.E(chela.Denied, "the database is read-only")}
	ratedLate := end{texts: []string{"x"}, err: rated.err}
	for _, tt := range []struct {
		name  string
		keys  [][]end
		want  end
		asked []int
	}{
		{"first works", [][]end{{ok}, {ok}}, ok, []int{1, 0}},
		{"bad key", [][]end{{badKey}, {ok}}, ok, []int{1, 1}},
		{"rate limit", [][]end{{rated}, {noCredit}, {ok}}, ok, []int{1, 1, 1}},
		{"rate limit after something was said", [][]end{{ratedLate}, {ok}}, end{texts: []string{"x", anew, "a"}}, []int{1, 1}},
		{"none works", [][]end{{badKey}, {rated}}, rated, []int{1, 1}},
		{"trouble that is not the key's", [][]end{{broken}, {ok}}, broken, []int{1, 0}},
		{"a limit of one's own", [][]end{{limited}, {ok}}, limited, []int{1, 0}},
		{"a database that is read-only", [][]end{{readOnly}, {ok}}, readOnly, []int{1, 0}},
		{"one key", [][]end{{rated}}, rated, []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var keys []chela.Provider
			var fakes []*fake
			for _, ends := range tt.keys {
				fakes = append(fakes, &fake{ends: ends})
				keys = append(keys, fakes[len(fakes)-1])
			}
			texts, err := drain(t, provider.Rotate("p/m", keys, resting()).Stream(t.Context(), &chela.Request{}))
			checkEnd(t, texts, err, tt.want)
			for i, f := range fakes {
				if f.asked() != tt.asked[i] {
					t.Errorf("key %d was asked %d times, want %d", i+1, f.asked(), tt.asked[i])
				}
				if last := i == len(fakes)-1; f.asked() > 0 && f.hasty[0] == last {
					t.Errorf("key %d was asked in haste: %t", i+1, f.hasty[0])
				}
			}
		})
	}
}

// TestRotateLetsKeysRest passes a key over for as long as it asked to be let be,
// and a refused one for the cooldown.
func TestRotateLetsKeysRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ok := end{texts: []string{"a"}}
		rated := &fake{ends: []end{failed(chela.ProviderError{Kind: chela.Exhausted, After: 5 * time.Second}), ok}}
		refused := &fake{ends: []end{failed(chela.ProviderError{Kind: chela.Denied}), ok}}
		third := &fake{ends: []end{ok, failed(chela.ProviderError{Kind: chela.Exhausted, After: time.Hour})}}
		p := provider.Rotate("p/m", []chela.Provider{rated, refused, third}, resting())
		for _, step := range []struct {
			after time.Duration
			asked [3]int
			fails bool
		}{
			{0, [3]int{1, 1, 1}, false},                // the first two begin to rest
			{4 * time.Second, [3]int{1, 1, 2}, true},   // so does the third
			{time.Millisecond, [3]int{2, 1, 2}, false}, // all rest: the one that is ready first is asked, and rests no more
			{time.Millisecond, [3]int{3, 1, 2}, false}, // so it is asked again
			{60 * time.Second, [3]int{4, 1, 2}, false}, // the second is ready again, but the first comes first
			{60 * time.Minute, [3]int{5, 1, 2}, false},
		} {
			if err := wait(t.Context(), step.after); err != nil {
				t.Fatal(err)
			}
			_, err := drain(t, p.Stream(t.Context(), &chela.Request{}))
			if (err != nil) != step.fails {
				t.Errorf("after %v: %v", step.after, err)
			}
			checkDiff(t, step.asked, [3]int{rated.asked(), refused.asked(), third.asked()})
		}
	})
}
