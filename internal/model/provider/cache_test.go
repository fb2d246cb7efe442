package provider_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/model/provider"
)

func say(text string) *chela.Request {
	return &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleUser, Text: text}}}
}

// TestCache gives an answer again while it is good, free of charge.
func TestCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			ends: []end{{texts: []string{"a", "b"}}},
			finish: chela.Finish{
				Model: "real", Usage: chela.TokenUsage{Input: 3}, Charge: chela.Charge{ID: "use_1", Cost: 5}, Served: "q/n",
				Thinking: []chela.Thinking{{Text: "t"}},
			},
		}
		p := provider.Cache(f, provider.CacheConfig{Now: time.Now, Keep: time.Minute})
		ask := func(r *chela.Request) ([]string, chela.Finish) {
			texts, finish, err := drained(t, p.Stream(t.Context(), r))
			if err != nil {
				t.Fatal(err)
			}
			return texts, *finish
		}
		whole := f.finish
		whole.Text, whole.Stop = "ab", chela.StopEnd
		_, first := ask(say("hi"))
		checkDiff(t, whole, first)
		texts, second := ask(say("hi"))
		free := whole
		free.Usage, free.Charge, free.Known = chela.TokenUsage{}, chela.Charge{}, true
		checkDiff(t, free, second)
		checkDiff(t, []string{"ab"}, texts)

		other := say("hi")
		other.Session, other.Hasty, other.Tokens = "agent:main:main", true, 7
		ask(other)
		checkDiff(t, 1, f.asked())
		for i, change := range []func(*chela.Request){
			func(r *chela.Request) { r.Model = "n" },
			func(r *chela.Request) { r.System = "s" },
			func(r *chela.Request) { r.Messages[0].Attachments = []chela.Attachment{{SHA256: "1"}} },
			func(r *chela.Request) { r.Tools = []chela.ToolSpec{{Name: "t"}} },
			func(r *chela.Request) { r.Thinking = chela.ThinkingLow },
			func(r *chela.Request) { r.MaxTokens = 1 },
		} {
			r := say("hi")
			change(r)
			ask(r)
			checkDiff(t, i+2, f.asked())
		}
		if err := wait(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		ask(say("hi"))
		checkDiff(t, 8, f.asked())
		ask(say("hi"))
		checkDiff(t, 8, f.asked())
	})
}

// TestCacheKeepsNothingElse asks again for what must not be repeated, and for what
// had to make room.
func TestCacheKeepsNothingElse(t *testing.T) {
	t.Parallel()
	keeping := func(f *fake, keep time.Duration) chela.Provider {
		return provider.Cache(f, provider.CacheConfig{Now: time.Now, Keep: keep, Entries: 2})
	}
	twice := func(name string, p chela.Provider, f *fake) {
		for range 2 {
			_, _ = drain(t, p.Stream(t.Context(), say("hi")))
		}
		if f.asked() != 2 {
			t.Errorf("%s: asked %d times", name, f.asked())
		}
	}
	calls := &fake{ends: []end{{}}, finish: chela.Finish{Calls: []chela.CallSpec{{Tool: "write"}}}}
	twice("an answer with calls", keeping(calls, time.Minute), calls)
	broken := &fake{ends: []end{failed(chela.ProviderError{Kind: chela.Unavailable}, "a")}}
	twice("an error", keeping(broken, time.Minute), broken)
	off := &fake{ends: []end{{texts: []string{"a"}}}}
	twice("turned off", keeping(off, 0), off)

	f := &fake{ends: []end{{texts: []string{"a"}}}}
	p := keeping(f, time.Minute)
	for i := range 3 {
		_, _ = drain(t, p.Stream(t.Context(), say(fmt.Sprint(i))))
	}
	for _, text := range []string{"2", "1", "0"} {
		_, _ = drain(t, p.Stream(t.Context(), say(text)))
	}
	checkDiff(t, 4, f.asked()) // the first one was dropped
}
