package agents_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
	"chela/internal/engine/agents"
)

const settings = `
[unknown_model]
window = 50000
max_output = 3000

[providers.work]
kind = "anthropic"
api_key = "env:WORK_KEY"

[providers.local]
kind = "openai"
base_url = "http://127.0.0.1:8080/v1"

[providers.proxy]
kind = "openai"
base_url = "http://127.0.0.1:4000/v1"
api_key = "env:WORK_KEY"

[models."work/claude-sonnet-5-5"]
max_output = 9000
`

const listed = `
[models."work/claude-sonnet-5-5"]
window = 70_000

[models."proxy/fast"]
input = 0.5
output = 1.25
source = "our contract"
`

// setup returns the models of a home, and the log they write.
func setup(t testing.TB) (*agents.KnownModels, *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	for name, text := range map[string]string{"config.toml": settings, "models.toml": listed} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Input{Home: home, Environ: []string{"WORK_KEY=swordfish"}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	m, err := agents.NewKnownModels(cfg, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return m, &log
}

// what is a model on one line: window, longest answer, price, and their sources
// up to the first comma.
func what(m chela.Model) string {
	short := func(field string) string {
		source, _, _ := strings.Cut(m.Sources[field], ",")
		return source
	}
	limits := strings.Join([]string{slog.Int("window", m.Window).String(), short("window"), slog.Int("output", m.MaxOutput).String(), short("max_output")}, " ")
	if m.Price == nil {
		return limits + " without a price"
	}
	return strings.Join([]string{limits, m.Price.Input.String(), m.Price.Output.String(), short("price")}, " ")
}

func TestModel(t *testing.T) {
	t.Parallel()
	m, _ := setup(t)
	for name, want := range map[string]string{
		"work/claude-sonnet-5-5":          "window=70000 models.toml output=9000 config.toml $2.00 $10.00 catalogue",
		"anthropic/claude-sonnet-5-5":     "window=1000000 catalogue output=128000 catalogue $2.00 $10.00 catalogue",
		"proxy/anthropic/claude-opus-5-5": "window=1000000 catalogue output=128000 catalogue without a price",
		"proxy/fast":                      "window=50000 assumed output=3000 assumed $0.50 $1.25 models.toml",
		"local/qwen":                      "window=50000 assumed output=3000 assumed $0.00 $0.00 served without charge",
		"offline/rules":                   "window=50000 assumed output=3000 assumed $0.00 $0.00 served without charge",
		"nobody/model":                    "window=50000 assumed output=3000 assumed without a price",
	} {
		if diff := cmp.Diff(want, what(m.Model(name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, ok := m.Price("nobody/model"); ok {
		t.Error("the price of an unknown model is said to be known")
	}
}

func TestWhatProvidersTellCountsBeforeTheCatalogue(t *testing.T) {
	t.Parallel()
	m, _ := setup(t)
	for name, want := range map[string]string{
		"work/claude-sonnet-5-5":      "window=70000 models.toml output=9000 config.toml $2.00 $10.00 catalogue",
		"anthropic/claude-sonnet-5-5": "window=8000 the provider output=700 the provider $2.00 $10.00 catalogue",
		"proxy/fast":                  "window=8000 the provider output=700 the provider $0.50 $1.25 models.toml",
	} {
		provider, model, _ := strings.Cut(name, "/")
		got := m.Fill(chela.Model{Provider: provider, Name: model, Window: 8000, MaxOutput: 700})
		if diff := cmp.Diff(want, what(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPricesThatProvidersTell counts the price in a provider's list before the
// catalogue's, and one of the home before both. It is remembered.
func TestPricesThatProvidersTell(t *testing.T) {
	t.Parallel()
	m, _ := setup(t)
	told := &chela.Price{Rates: chela.Rates{Input: 30_000, Output: 110_000, CacheRead: 30_000, CacheWrite: 30_000}}
	for name, want := range map[string]string{
		"proxy/new":                   "window=50000 assumed output=3000 assumed $0.03 $0.11 the provider",
		"anthropic/claude-sonnet-5-5": "window=1000000 catalogue output=128000 catalogue $0.03 $0.11 the provider",
		"proxy/fast":                  "window=50000 assumed output=3000 assumed $0.50 $1.25 models.toml",
	} {
		provider, model, _ := strings.Cut(name, "/")
		m.Model(name) // is in the cache
		for _, got := range []chela.Model{m.Fill(chela.Model{Provider: provider, Name: model, Price: told}), m.Model(name)} {
			if diff := cmp.Diff(want, what(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestUnknownModelsAreToldOfOnce(t *testing.T) {
	t.Parallel()
	m, log := setup(t)
	for range 3 {
		m.Warn(m.Model("proxy/slow"))
		m.Warn(m.Model("anthropic/claude-sonnet-5-5"))
		m.Warn(m.Model("offline/rules"))
	}
	if n := strings.Count(log.String(), "model is not known"); n != 1 {
		t.Errorf("told %d times, want once:\n%s", n, log)
	}
	for _, want := range []string{"model=proxy/slow", "a window of 50000 tokens, no price", "chela models set proxy/slow --window"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestWrongModelsFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "models.toml"), []byte("\n\nwidth = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Input{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agents.NewKnownModels(cfg, slog.New(slog.DiscardHandler))
	if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "models.toml:3: unknown key width") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkFill looks up a model that nobody knows, as a list of a proxy has many.
func BenchmarkFill(b *testing.B) {
	m, _ := setup(b)
	for b.Loop() {
		m.Fill(chela.Model{Provider: "proxy", Name: "slow"})
	}
}

// BenchmarkOf lists the models of a provider that does not tell its own.
func BenchmarkOf(b *testing.B) {
	m, _ := setup(b)
	for b.Loop() {
		m.Of("work")
	}
}
