package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

const chainFile = `
model = "openai/large"
cheap_model = "openai/small"
fallbacks = ["work/a", "offline/rules"]
record = "tape"

[chain]
attempts = 4
first_wait = "250ms"
cooldown = "2m"
breaker_failures = 7
breaker_open = "1m"
cache = "10m"
idle = "0s"
first_byte = "20s"

[routing]
smart = true

[providers.work]
kind = "openai"
base_url = "https://work.example/v1"
api_key = "env:WORK_KEY"
omit = ["stream_options"]
keys = ["env:WORK_KEY_2", "env:WORK_KEY_3", "env:WORK_KEY_4"]

[agents.quick]
cheap_model = "work/tiny"
fallbacks = []

[agents.main]
fallbacks = ["work/b", "work/b", "openai/large"]
`

func TestChain(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, chainFile, "WORK_KEY=first-key", "WORK_KEY_3=third-key", "WORK_KEY_4=first-key", "OPENAI_API_KEY=openai-key")
	want := config.Chain{
		Attempts: 4, FirstWait: 250 * time.Millisecond, Cooldown: 2 * time.Minute, BreakerFailures: 7, BreakerOpen: time.Minute, Cache: 10 * time.Minute,
		FirstByte: 20 * time.Second,
	}
	if c.Chain != want || !c.Routing.Smart || c.Record != "tape" || c.Replay != "" {
		t.Errorf("got %+v, %+v, %q, %q", c.Chain, c.Routing, c.Record, c.Replay)
	}
	if work, err := c.Provider("work"); err != nil || len(work.Omit) != 1 || work.Omit[0] != "stream_options" {
		t.Errorf("the provider leaves out %q, %v", work.Omit, err)
	}
	for name, cheap := range map[string]string{"main": "openai/small", "quick": "work/tiny"} {
		if a, err := c.Agent(name); err != nil || a.CheapModel != cheap {
			t.Errorf("the cheap model of %s is %q, %v", name, a.CheapModel, err)
		}
	}
	got := [][]string{c.ModelsOf("main", "openai/large"), c.ModelsOf("quick", "openai/large"), c.ModelsOf("", "work/a"), c.ModelsOf("quick", "work/tiny")}
	if diff := cmp.Diff([][]string{{"openai/large", "work/b"}, {"openai/large"}, {"work/a", "offline/rules"}, {"work/tiny", "openai/large"}}, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	shown := sources(t, c, "providers.work.keys", "agents.main.cheap_model", "agents.quick.fallbacks")
	if diff := cmp.Diff(map[string]string{
		"providers.work.keys": "2 of 3 set: env:WORK_KEY_2, env:WORK_KEY_3, env:WORK_KEY_4 (file config.toml:25)", "agents.main.cheap_model": "openai/small (default: cheap_model)",
		"agents.quick.fallbacks": "[] (file config.toml:29)",
	}, shown); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keysOf := func(environ ...string) (keys []string) {
		p, _, err := mustLoad(t, chainFile, environ...).Resolve("work/a")
		if err != nil {
			return []string{chela.MessageOf(err)}
		}
		for _, with := range p.WithEachKey() {
			keys = append(keys, with.Key.Reveal())
		}
		return keys
	}
	for _, tt := range []struct{ environ, want []string }{
		{[]string{"WORK_KEY=a", "WORK_KEY_3=c", "WORK_KEY_4=a"}, []string{"a", "c"}},
		{[]string{"WORK_KEY_2=b", "WORK_KEY_3=c"}, []string{"b", "c"}},
		{nil, []string{"provider work has no key; set WORK_KEY, or choose another model"}},
		{[]string{"CHELA_REPLAY=tape"}, []string{""}}, // nobody is asked
	} {
		if diff := cmp.Diff(tt.want, keysOf(tt.environ...)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.environ, diff)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, chainFile, "WORK_KEY=a", "WORK_KEY_3=c", "OPENAI_API_KEY=o", "CHELA_DATABASE_URL=postgres://me:p%40ss@host/name")
	got := c.Secrets()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a", "c", "o", "p@ss", "postgres://me:p%40ss@host/name"}, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestChainErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`fallbacks = ["nowhere/x"]`:                         `config.toml:1: fallbacks: no provider "nowhere"`,
		`fallbacks = ["offline"]`:                           "config.toml:1: fallbacks cannot be that; write a list of models",
		`cheap_model = "nowhere/x"`:                         `config.toml:1: cheap_model: no provider "nowhere"`,
		"[agents.a]\nfallbacks = [\"x/y\"]":                 `config.toml:2: agents.a.fallbacks: no provider "x"`,
		"[providers.openai]\nkeys = [\"sk-this-is-a-key\"]": `config.toml:2: providers.openai.keys cannot be what was given; write a list of "env:NAME"`,
		"[providers.offline]\nkeys = [\"env:A\"]":           "config.toml:2: providers.offline.keys does not apply to kind offline",
		"[providers.openai]\nomit = [\"messages\"]":         "config.toml:2: providers.openai.omit cannot be that; write a list of optional fields: reasoning_effort",
		"[providers.gemini]\nomit = [\"strict\"]":           "config.toml:2: providers.gemini.omit does not apply to kind gemini",
		"[chain]\nattempts = 0":                             "config.toml:2: chain.attempts cannot be 0",
	} {
		_, err := load(text)
		if got := chela.MessageOf(err); !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}
