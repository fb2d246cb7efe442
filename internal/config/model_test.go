package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
	"chela/internal/model/catalogue"
)

func TestPricesOfModels(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[unknown_model]
input = 4
max_output = 2000

[models."openai/own"]
window = 32000
max_output = 8000
input = 0.075
output = 3
cache_read = 0.0
`, "CHELA_UNKNOWN_MODEL_OUTPUT=7.5")
	input, output, free := chela.MicroUSD(75_000), 3*chela.USD, chela.MicroUSD(0)
	want := map[string]catalogue.Row{"openai/own": {
		Window: 32_000, MaxOutput: 8_000, Input: &input, Output: &output, CacheRead: &free, Source: "config.toml",
	}}
	if diff := cmp.Diff(want, c.Models()); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	four, more := 4*chela.USD, chela.MicroUSD(7_500_000)
	unknown := config.UnknownModel{Window: 100_000, MaxOutput: 2_000, Input: &four, Output: &more}
	if diff := cmp.Diff(unknown, c.Unknown); diff != "" {
		t.Errorf("unknown models (-want +got):\n%s", diff)
	}
	keys := sources(t, c, `models."openai/own".input`, "unknown_model.input", "unknown_model.output", "unknown_model.window")
	if diff := cmp.Diff(map[string]string{
		`models."openai/own".input`: "0.075 (file config.toml:9)", "unknown_model.input": "4 (file config.toml:3)",
		"unknown_model.output": "7.50 (env CHELA_UNKNOWN_MODEL_OUTPUT)", "unknown_model.window": "100000 (default)",
	}, keys); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestPricesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, price := range []string{"-1", "1e3", "inf", "0.1234567", `"3"`, "100001", "2026-01-01", "[3]"} {
		_, err := load("\n[models.\"openai/own\"]\ninput = " + price + "\n")
		if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "config.toml:3: models.") {
			t.Errorf("%s: error %v", price, err)
		}
	}
}

func TestHalfAPrice(t *testing.T) {
	t.Parallel()
	for rates, missing := range map[string]string{
		"input = 3": "output", "output = 3": "input", "cache_read = 1": "input", "input = 3\ncache_write = 1": "output",
	} {
		_, err := load("\n[models.\"openai/own\"]\nwindow = 9000\n" + rates + "\n")
		want := `config.toml:2: models."openai/own" has half a price: ` + missing + " is missing; give both"
		if got := chela.MessageOf(err); chela.KindOf(err) != chela.Invalid || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", rates, got, want)
		}
	}
}

func TestSetPrice(t *testing.T) {
	t.Parallel()
	home := config.Home(t.TempDir())
	const input, output = `models."openai/own".input`, `models."openai/own".output`
	if err := config.Set(home, input, "3"); chela.KindOf(err) != chela.Invalid {
		t.Errorf("half a price: %v", err)
	}
	if err := config.SetAll(home, []config.Change{{input, "3"}, {output, "0.15"}}); err != nil {
		t.Fatal(err)
	}
	if err := config.Set(home, input, "3.50"); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Input{Home: string(home)})
	if err != nil {
		t.Fatal(err)
	}
	in, out := chela.MicroUSD(3_500_000), chela.MicroUSD(150_000)
	want := map[string]catalogue.Row{"openai/own": {Input: &in, Output: &out, Source: "config.toml"}}
	if diff := cmp.Diff(want, c.Models()); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
}
