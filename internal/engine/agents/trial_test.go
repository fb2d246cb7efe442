package agents_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/agents"
	"chela/internal/model/provider/anthropic"
	"chela/internal/model/provider/anthropic/anthropictest"
	"chela/internal/model/provider/offline"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

// wire is a provider and its server, for each protocol.
var wires = map[string]func(t *testing.T, c providertest.Case) chela.Provider{
	"anthropic": func(t *testing.T, c providertest.Case) chela.Provider {
		p, err := anthropic.New(anthropic.Config{Name: "p", BaseURL: anthropictest.Serve(t, c).URL, APIKey: providertest.Key})
		return must(t, p, err)
	},
	"openai": func(t *testing.T, c providertest.Case) chela.Provider {
		p, err := openai.New(openai.Config{Name: "p", BaseURL: openaitest.Serve(t, c).URL + "/v1", APIKey: providertest.Key})
		return must(t, p, err)
	},
}

func must[P chela.Provider](t *testing.T, p P, err error) chela.Provider {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome is a trial in short: the state of each check, and text and cure of the
// first that failed.
func outcome(t api.Trial) (states, text, cure string) {
	for _, c := range t.Checks {
		states += map[api.CheckState]string{api.CheckPassed: "+", api.CheckFailed: "!", api.CheckUntried: "."}[c.State]
		if c.State == api.CheckFailed && text == "" {
			text, cure = c.Text, c.Cure
		}
	}
	return states, text, cure
}

func try(t *testing.T, p chela.Provider, failed error) api.Trial {
	t.Helper()
	var keys []chela.Provider
	if p != nil {
		keys = append(keys, p)
	}
	return tryKeys(t, keys, failed)
}

// tryKeys tries a model with several keys.
func tryKeys(t *testing.T, keys []chela.Provider, failed error) api.Trial {
	t.Helper()
	tick := time.Time{}
	now := func() time.Time { tick = tick.Add(time.Millisecond); return tick }
	got, err := agents.TryModel(t.Context(), agents.TrialSubject{Model: chela.Model{Provider: "p", Name: "m", Price: &chela.Price{}}, Name: "m", Keys: keys, Err: failed}, now)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTrial(t *testing.T) {
	t.Parallel()
	words := providertest.Answer{Text: []string{"hel", "lo"}}
	call := func(tool, args string) providertest.Answer {
		return providertest.Answer{Calls: []providertest.Call{{Ref: "c1", Tool: tool, Args: args}}}
	}
	tests := map[string]struct {
		answers []providertest.Answer
		states  string
		cure    string
	}{
		"all is well":       {[]providertest.Answer{words, call("calc", `{"expression":"6 * 7"}`)}, "+++++", ""},
		"no tool":           {[]providertest.Answer{words, words}, "+++!+", "use another model"},
		"another tool":      {[]providertest.Answer{words, call("sum", `{"expression":"6 * 7"}`)}, "+++!+", "use another model"},
		"broken arguments":  {[]providertest.Answer{words, call("calc", `{"expression":`)}, "+++!+", "use another model"},
		"wrong key":         {[]providertest.Answer{{Fault: providertest.FaultKey}}, "+!..+", "providers.p.api_key"},
		"no such model":     {[]providertest.Answer{{Fault: providertest.FaultModel}}, "++!.+", "chela models list"},
		"nothing left":      {[]providertest.Answer{{Fault: providertest.FaultQuota}}, "++!.+", "credit or quota"},
		"too many requests": {[]providertest.Answer{{Fault: providertest.FaultRate, After: time.Second}}, "++!.+", "try again"},
		"broken down":       {[]providertest.Answer{{Fault: providertest.FaultServer}}, "++!.+", "try again"},
		"torn":              {[]providertest.Answer{{Text: []string{"he"}, Fault: providertest.FaultCut}}, "++!.+", "try again"},
		"refused":           {[]providertest.Answer{{Fault: providertest.FaultRefused}}, "++!.+", "[providers.p]"},
		"tools are refused": {[]providertest.Answer{words, {Fault: providertest.FaultRefused}}, "+++!+", "use another model"},
	}
	for protocol, reach := range wires {
		for name, test := range tests {
			t.Run(protocol+" "+name, func(t *testing.T) {
				t.Parallel()
				states, text, cure := outcome(try(t, reach(t, providertest.NewCase(name, test.answers...)), nil))
				if states != test.states || !strings.Contains(cure, test.cure) || (text == "") != (test.cure == "") {
					t.Errorf("%s, %q, cure %q; want %s and cure %q", states, text, cure, test.states, test.cure)
				}
			})
		}
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	p, err := openai.New(openai.Config{Name: "p", BaseURL: "http://127.0.0.1:1/v1"})
	states, _, cure := outcome(try(t, must(t, p, err), nil))
	if states != "!...+" || !strings.Contains(cure, "providers.p.base_url") {
		t.Errorf("%s, cure %q", states, cure)
	}
}

func TestWithoutKey(t *testing.T) {
	t.Parallel()
	got := try(t, nil, chela.E(chela.Denied, "provider p has no key").WithHint("set P_KEY"))
	if states, _, cure := outcome(got); states != ".!..+" || cure != "set P_KEY" {
		t.Errorf("%s, cure %q", states, cure)
	}
}

// The stand-in passes, as it does all that is asked.
func TestOffline(t *testing.T) {
	t.Parallel()
	if got := try(t, offline.New(offline.Config{Name: "offline"}), nil); !got.Passed() {
		t.Errorf("trial %+v", got)
	}
}

func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	m := chela.Model{
		Provider: "p", Name: "m", Price: &chela.Price{Rates: chela.Rates{Input: chela.USD, Output: 2 * chela.USD}},
		Sources: map[string]string{"price": agents.Assumed},
	}
	got, err := agents.TryModel(t.Context(), agents.TrialSubject{Model: m, Name: "m", Keys: []chela.Provider{offline.New(offline.Config{})}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	want := api.Check{
		Name: api.CheckPrice, State: api.CheckFailed, Text: "$1.00 for a million tokens of input and $2.00 of output is assumed",
		Cure: "chela models set p/m --window TOKENS --input DOLLARS --output DOLLARS",
	}
	if diff := cmp.Diff(want, got.Check(api.CheckPrice)); diff != "" {
		t.Errorf("check (-want +got):\n%s", diff)
	}
}

// A plain provider says everything at the end.
type plain struct{}

func (plain) Stream(_ context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		end := &chela.Finish{Text: "hello", Usage: chela.TokenUsage{Input: 3, Output: 1}}
		for _, tool := range req.Tools {
			end.Calls = []chela.CallSpec{{Tool: tool.Name, Args: []byte(`{"expression":"6*7"}`)}}
		}
		yield(chela.Chunk{Finish: end}, nil)
	}
}

func TestNoStream(t *testing.T) {
	t.Parallel()
	got := try(t, plain{}, nil)
	if states, _, cure := outcome(got); states != "++!++" || !strings.Contains(cure, "proxy") {
		t.Errorf("%s, cure %q", states, cure)
	}
	if want := (chela.TokenUsage{Input: 6, Output: 2}); got.Tokens != want || got.MS != 1 {
		t.Errorf("tokens %+v in %d ms, want %+v in 1 ms", got.Tokens, got.MS, want)
	}
	if got := fmt.Sprint(got.Check("nothing")); got != "{nothing 0 untried  }" {
		t.Errorf("a check that is not there is %s", got)
	}
}

// TestEachKey has a check of its own for each key.
func TestEachKey(t *testing.T) {
	t.Parallel()
	refused := providertest.NewCase("wrong key", providertest.Answer{Fault: providertest.FaultKey})
	good := offline.New(offline.Config{})
	states, text, cure := outcome(tryKeys(t, []chela.Provider{good, wires["openai"](t, refused), good}, nil))
	if states != "++!++++" || text == "" || !strings.Contains(cure, "providers.p.keys") {
		t.Errorf("%s, %q, cure %q", states, text, cure)
	}
	gone, err := openai.New(openai.Config{Name: "p", BaseURL: "http://127.0.0.1:1/v1"})
	if states, _, _ := outcome(tryKeys(t, []chela.Provider{must(t, gone, err), good}, nil)); states != "!....+" {
		t.Errorf("%s where nobody is there", states)
	}
}

// unpaid is a provider whose requests a limit of the home refuses, but for the
// first few.
type unpaid struct{ left int }

func (u *unpaid) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	u.left--
	if u.left >= 0 {
		return offline.New(offline.Config{}).Stream(ctx, req)
	}
	return func(yield func(chela.Chunk, error) bool) {
		yield(chela.Chunk{}, &chela.Error{Kind: chela.Exhausted, Limit: chela.LimitDay, Msg: "the limit is reached", Hint: "raise it"})
	}
}

// TestLimitOfTheHome says nothing of a model that a limit of the home does not let
// be asked.
func TestLimitOfTheHome(t *testing.T) {
	t.Parallel()
	for left, at := range map[int]struct {
		states string
		check  api.CheckName
	}{0: {"....+", api.CheckReachable}, 1: {"+++.+", api.CheckTools}} {
		got := try(t, &unpaid{left}, nil)
		states, _, _ := outcome(got)
		c := got.Check(at.check)
		if states != at.states || !got.Stopped() || !got.Passed() || c.Text != "the limit is reached" || c.Cure != "raise it" {
			t.Errorf("after %d requests: %s, %+v", left, states, c)
		}
	}
}
