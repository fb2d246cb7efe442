package catalogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/catalogue"
)

const rows = `
[models."acme/small"]
window = 8_000
max_output = 1_000
input = 0.075
output = 3
cache_read = 0.0075
abilities = ["tools"]
source = "https://acme.example/prices"
date = "2026-11-21"

[models."acme/small-2026-01-15"]
input = 1.0
output = 2.50

[models."acme/large"]
input = 2
output = 10
long_from = 272_000
long_input = 4
long_output = 15
long_cache_read = 0.4
`

func load(t *testing.T, text string) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestModelIsFoundByItsNameOrTheNameWithoutDate(t *testing.T) {
	t.Parallel()
	small := chela.Price{Rates: chela.Rates{Input: 75_000, Output: 3 * chela.USD, CacheRead: 7_500, CacheWrite: 75_000}}
	dated := chela.Price{Rates: chela.Rates{Input: chela.USD, Output: 2_500_000, CacheRead: chela.USD, CacheWrite: chela.USD}}
	tests := map[string]struct {
		name  string
		price *chela.Price
		found bool
	}{
		"itself":                {"small", &small, true},
		"listed with its date":  {"small-2026-01-15", &dated, true},
		"other date":            {"small-2026-02-01", &small, true},
		"date without dashes":   {"small-20260201", &small, true},
		"latest":                {"small-latest", &small, true},
		"place of hosting":      {"small@20260201", &small, true},
		"version and date":      {"small-001-20260201", &small, true},
		"another model":         {"small-fast", nil, false},
		"the beginning of one":  {"smal", nil, false},
		"free of charge is own": {"small:free", nil, false},
		"nothing":               {"", nil, false},
	}
	c := load(t, rows)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, ok := c.Model("acme", test.name)
			if ok != test.found {
				t.Errorf("found %v, want %v", ok, test.found)
			}
			if diff := cmp.Diff(test.price, m.Price); diff != "" {
				t.Errorf("price (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelsAreKnownElsewhere(t *testing.T) {
	t.Parallel()
	c := load(t, "[models.\"anthropic/claude-small-4-5\"]\nwindow = 8_000\ninput = 1\noutput = 5\n")
	for provider, name := range map[string]string{
		"openrouter": "anthropic/claude-small-4.5", "bedrock": "us.anthropic.claude-small-4-5-20251001-v1:0",
		"proxy": "claude-small-4-5", "second-proxy": "claude-small-4-5-latest",
	} {
		m, ok := c.Model(provider, name)
		if !ok || m.Window != 8_000 || m.Price != nil {
			t.Errorf("%s/%s: found %v, window %d, price %v; want a window and no price", provider, name, ok, m.Window, m.Price)
		}
	}
	if _, ok := c.Model("openrouter", "anthropic/claude-small-4-5:free"); ok {
		t.Error("a model of another name is known")
	}
}

func TestModelSaysWhereItsValuesAreFrom(t *testing.T) {
	t.Parallel()
	free := chela.MicroUSD(0)
	c := load(t, rows).With(map[string]catalogue.Row{
		"acme/small": {Window: 4_000, Source: "config.toml"},
		"acme/own":   {Input: &free, Output: &free, Source: "config.toml"},
	})
	got, _ := c.Model("acme", "small")
	want := chela.Model{
		Provider: "acme", Name: "small", Window: 4_000, MaxOutput: 1_000,
		Price:     &chela.Price{Rates: chela.Rates{Input: 75_000, Output: 3 * chela.USD, CacheRead: 7_500, CacheWrite: 75_000}},
		Abilities: []chela.Ability{chela.AbleTools}, Levels: []chela.ThinkingLevel{},
		Sources: map[string]string{
			"window": "config.toml", "max_output": "models.toml, 2026-11-21 https://acme.example/prices",
			"price":     "models.toml, 2026-11-21 https://acme.example/prices",
			"abilities": "models.toml, 2026-11-21 https://acme.example/prices",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
	if own, _ := c.Model("acme", "own"); own.Price == nil || *own.Price != (chela.Price{}) {
		t.Errorf("price of a model that costs nothing is %v", own.Price)
	}
}

// A price of the home replaces the whole one of the catalogue, and what only part
// of a price is replaces nothing.
func TestPriceOfTheHome(t *testing.T) {
	t.Parallel()
	two := 2 * chela.USD
	c := load(t, rows).With(map[string]catalogue.Row{
		"acme/small": {Output: &two, Source: "config.toml"}, "acme/large": {Input: &two, Output: &two, Source: "config.toml"},
	})
	small, _ := c.Model("acme", "small")
	if small.Price.Output != 3*chela.USD || small.Sources["price"] == "config.toml" {
		t.Errorf("price is %+v of %s", small.Price, small.Sources["price"])
	}
	large, _ := c.Model("acme", "large")
	want := &chela.Price{Rates: chela.Rates{Input: two, Output: two, CacheRead: two, CacheWrite: two}}
	if diff := cmp.Diff(want, large.Price); diff != "" {
		t.Errorf("price (-want +got):\n%s", diff)
	}
}

func TestPriceOfLongPrompts(t *testing.T) {
	t.Parallel()
	m, _ := load(t, rows).Model("acme", "large")
	want := &chela.Price{
		Rates:    chela.Rates{Input: 2 * chela.USD, Output: 10 * chela.USD, CacheRead: 2 * chela.USD, CacheWrite: 2 * chela.USD},
		LongFrom: 272_000,
		Long:     chela.Rates{Input: 4 * chela.USD, Output: 15 * chela.USD, CacheRead: 400_000, CacheWrite: 4 * chela.USD},
	}
	if diff := cmp.Diff(want, m.Price); diff != "" {
		t.Errorf("price (-want +got):\n%s", diff)
	}
}

func TestLoadRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"no TOML":             {"\nmodels = [", "models.toml:2"},
		"unknown key":         {"[models.\"a/b\"]\nwidth = 3", "unknown key models.a/b.width"},
		"no provider":         {"[models.b]\nwindow = 3", `[models."b"]: is not a model`},
		"half a price":        {"[models.\"a/b\"]\ninput = 3", "a price has both input and output, and output is missing"},
		"part of a price":     {"[models.\"a/b\"]\ncache_read = 3", "input is missing"},
		"half a long price":   {"[models.\"a/b\"]\nlong_input = 3", "long_from"},
		"negative":            {"[models.\"a/b\"]\nwindow = -1", "cannot be negative"},
		"price with exponent": {"[models.\"a/b\"]\ninput = 3e0\noutput = 1", `"3e0" is not an amount in dollars`},
		"price of 7 digits":   {"[models.\"a/b\"]\ninput = 0.1234567\noutput = 1", "is not an amount in dollars"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := catalogue.Load([]byte(test.text))
			if chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

// Every row of the program says where its facts are from.
func TestRowsHaveSources(t *testing.T) {
	t.Parallel()
	for _, m := range load(t, "").Models() {
		if len(m.Sources) == 0 {
			t.Errorf("%s/%s says nothing", m.Provider, m.Name)
		}
		for field, source := range m.Sources {
			date, url, _ := strings.Cut(strings.TrimPrefix(source, "catalogue, "), " ")
			if len(date) != len("2026-11-21") || !strings.HasPrefix(url, "https://") {
				t.Errorf("%s/%s: %s is from %q, want a date and an address", m.Provider, m.Name, field, source)
			}
		}
	}
	for _, s := range catalogue.Services() {
		if s.Date == "" || !strings.HasPrefix(s.Source, "https://") || s.Keyless == (s.KeyEnv != "") {
			t.Errorf("service %s: source %q of %q, key %q, keyless %v", s.Name, s.Source, s.Date, s.KeyEnv, s.Keyless)
		}
	}
}

// The model that is chosen for a service whose key is found is a known one.
func TestModelsOfServicesAreKnown(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	for _, s := range catalogue.Services() {
		if s.Model == "" || s.Model == "openrouter/auto" { // which is whatever model it picks
			continue
		}
		if m, ok := c.Model(s.Name, s.Model); !ok || m.Window == 0 || m.Price == nil {
			t.Errorf("%s/%s is not known, or not its window and price: %+v", s.Name, s.Model, m)
		}
	}
}

func BenchmarkServices(b *testing.B) {
	for b.Loop() {
		catalogue.Services()
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := catalogue.Load([]byte(rows)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLevels finds the thinking levels of models by their names.
func TestLevels(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	for name, want := range map[string]string{
		"openai/gpt-5":                       "[minimal low medium high]",
		"openai/gpt-5-mini-2025-08-07":       "[minimal low medium high]",
		"openai/gpt-5.1":                     "[off low medium high]",
		"openai/gpt-5.1-codex-max":           "[low medium high xhigh]",
		"openai/gpt-5.6-terra":               "[off low medium high xhigh]",
		"openai/gpt-6.1-terra":               "[off low medium high xhigh]",
		"openai/gpt-5-pro":                   "[high]",
		"openai/gpt-4.1":                     "[]",
		"openai/o1-mini":                     "[]",
		"openai/o3":                          "[low medium high]",
		"openrouter/openai/gpt-4o":           "[]",
		"groq/llama-3.3-70b-versatile":       "[]",
		"groq/openai/gpt-oss-120b":           "[low medium high]",
		"xai/grok-3-mini":                    "[low high]",
		"acme/model-without-any-known-facts": "unknown",
	} {
		provider, model, _ := strings.Cut(name, "/")
		m, _ := c.Model(provider, model)
		got := fmt.Sprint(m.Levels)
		if m.Levels == nil {
			got = "unknown"
		}
		if got != want {
			t.Errorf("%s accepts %s, want %s", name, got, want)
		}
	}
}
