package catalogue

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chela"
)

var update = flag.Bool("update", false, "rewrite lists.tsv, the golden file and the vocabulary")

// A priceList is a public list of prices.
type priceList struct {
	name, date string
	source     string
	file       string
	services   map[string]string // chela's name of each provider
	rows       map[string]map[string]string
}

// priceLists are the lists of testdata, newest first. Their files are those that the
// lists' projects published, cut to the providers that chela knows.
var priceLists = []*priceList{
	{name: "LiteLLM", date: "2026-07-24", source: "https://github.com/Wei-Shaw/model-price-repo", file: "testdata/litellm.tsv", services: map[string]string{
		"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "xai": "xai", "deepseek": "deepseek", "bedrock": "bedrock",
	}},
	{name: "models.dev", date: "2026-07-02", source: "https://github.com/anomalyco/models.dev", file: "testdata/models-dev.tsv", services: map[string]string{
		"openrouter": "openrouter", "openai": "openai", "anthropic": "anthropic", "google": "gemini", "xai": "xai", "togetherai": "together",
		"groq": "groq", "mistral": "mistral", "deepseek": "deepseek", "cerebras": "cerebras", "fireworks-ai": "fireworks", "amazon-bedrock": "bedrock",
	}},
}

// read reads the rows of the list, by provider/model.
func (l *priceList) read(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	head := strings.Split(lines[1], "\t")
	l.rows = map[string]map[string]string{}
	for _, line := range lines[2:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			row[head[i]] = cell
			if strings.Contains(cell, ".") && i > 1 { // to millionths of a dollar: the lists have rests of binary fractions
				if f, err := strconv.ParseFloat(cell, 64); err == nil {
					row[head[i]] = strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
				}
			}
		}
		l.rows[l.services[row["provider"]]+"/"+row["model"]] = row
	}
}

// price is what a row costs, as text.
func price(row map[string]string) string {
	return fmt.Sprint(row["input"], row["output"], row["cache_read"], row["cache_write"], row["input_over_200k"], row["output_over_200k"])
}

// isPriced reports whether a row has a price.
func isPriced(row map[string]string) bool { return row["input"] != "" && row["output"] != "" }

// TestLists makes lists.tsv from the two public lists. Where both have a price, the
// newer list counts. A snapshot that costs what its model costs is left out: the
// model's own row counts for it, also after a change of its price.
func TestLists(t *testing.T) {
	t.Parallel()
	made := "# provider/model, dollars per million tokens (input, output, cache_read, cache_write, long_input, long_output), window, max_output, abilities, source\n"
	names := map[string]bool{}
	for _, l := range priceLists {
		l.read(t)
		for name := range l.rows {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var found map[string]string
		source := ""
		for _, l := range priceLists {
			row := l.rows[name]
			if plain := l.rows[undated(name)]; plain != nil && price(plain) == price(row) {
				row = nil
			}
			switch {
			case row == nil:
			case found == nil || !isPriced(found) && isPriced(row):
				found, source = row, l.date+" "+l.source
			}
		}
		if found != nil {
			made += written{}.line(name, found, source)
		}
	}
	if *update {
		if err := os.WriteFile("lists.tsv", []byte(made), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if made != listsFile {
		t.Error("lists.tsv differs from what the lists say; go test -update writes it anew")
	}
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	priced := 0
	for _, m := range c.Models() {
		if m.Price != nil {
			priced++
		}
	}
	if priced < 400 {
		t.Errorf("%d models have a price, want 400", priced)
	}
	checkDifferences(t, c)
}

// line is a row of lists.tsv.
func (written) line(name string, row map[string]string, source string) string {
	var abilities []string
	for _, a := range []struct {
		ability chela.Ability
		columns []string
	}{
		{chela.AbleTools, []string{"tools"}},
		{chela.AbleImages, []string{"images", "attachments"}},
		{chela.AbleThinking, []string{"thinking"}},
		{chela.AbleCache, []string{"cache_read"}},
	} {
		if slices.ContainsFunc(a.columns, func(c string) bool { return row[c] != "" && row[c] != "0" }) {
			abilities = append(abilities, string(a.ability))
		}
	}
	return strings.Join([]string{
		name, row["input"], row["output"], row["cache_read"], row["cache_write"], row["input_over_200k"], row["output_over_200k"],
		row["window"], row["max_output"], strings.Join(abilities, ","), source,
	}, "\t") + "\n"
}

// checkDifferences compares the price of each model with both lists. Each
// difference is in a golden file, with its reason: the source that counts.
func checkDifferences(t *testing.T, c *Catalogue) {
	t.Helper()
	var differences []string
	for _, l := range priceLists {
		for name, row := range l.rows {
			provider, model, _ := strings.Cut(name, "/")
			m, _ := c.Model(provider, model)
			if m.Price == nil || !isPriced(row) {
				continue
			}
			for _, rate := range []struct {
				name string
				told string
				ours chela.MicroUSD
			}{
				{"input", row["input"], m.Price.Input},
				{"output", row["output"], m.Price.Output},
				{"cache_read", cmp.Or(row["cache_read"], row["input"]), m.Price.CacheRead},
				{"cache_write", cmp.Or(row["cache_write"], row["input"]), m.Price.CacheWrite},
			} {
				told, err := chela.ParseUSD(rate.told)
				if err != nil {
					t.Errorf("%s: %s: %v", l.name, name, err)
				}
				if told == rate.ours {
					continue
				}
				source := strings.TrimPrefix(m.Sources[FieldPrice], "catalogue, ")
				if source[:len("2026-01-01")] < l.date {
					t.Errorf("%s: %s of %s is %s, and %s of an older source counts: %s", l.name, rate.name, name, told, rate.ours, source)
				}
				differences = append(differences, fmt.Sprintf("%s\t%s\t%s says %s\t%s counts\tfrom %s, which is newer\n", name, rate.name, l.name, told, rate.ours, source))
			}
		}
	}
	slices.Sort(differences)
	const golden = "testdata/differences.tsv"
	got := strings.Join(differences, "")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("the differences from the lists are not those of %s (%v); go test -update writes it anew", golden, err)
	}
}
