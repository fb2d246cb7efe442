package leak

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// library is the folder of a checkout of github.com/betterleaks/betterleaks, of
// which rules.jsonl is made:
//
//	go mod download -json github.com/betterleaks/betterleaks@v1.0.0   # prints Dir
//	go test ./internal/safety/leak -run TestRulesAreTheLibrarys -library DIR
var library = flag.String("library", "", "write rules.jsonl from the rules in this folder")

// replaced are the rules that package leak does in another way, faster or with
// fewer mistakes: the values of assignments, headers and files known by a path.
var replaced = []string{"generic-api-key", "curl-auth-header", "kubernetes-secret-yaml", "pkcs12-file", "hashicorp-tf-password"}

// beginning is how the library finds names before a keyword. Where a secret
// begins does not depend on it, and it makes expressions slow.
var beginning = regexp.MustCompile(`^\(\?i\)\[\\w\.-\]\{0,50\}\?`)

// ending is what the library wants behind a secret. In prose other punctuation
// follows it.
const (
	ending    = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	ourEnding = "(?:[\\x60'\"\\s;,.:)\\]}<>&|#?!]|\\\\[nr]|$)"
)

func TestRulesAreTheLibrarys(t *testing.T) {
	t.Parallel()
	if *library == "" {
		t.Skip("no -library")
	}
	text, err := os.ReadFile(filepath.Join(*library, "config", "betterleaks.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Rules []struct {
			ID, Regex  string
			Entropy    float64
			Keywords   []string
			Allowlists []struct {
				Regexes     []string
				RegexTarget string
			}
		}
	}
	if err := toml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, r := range config.Rules {
		r.Keywords = slices.DeleteFunc(r.Keywords, func(k string) bool { return len(k) < 3 })
		if slices.Contains(replaced, r.ID) || r.Regex == "" || len(r.Keywords) == 0 {
			t.Logf("left out: %s", r.ID)
			continue
		}
		made := rule{ID: r.ID, Keywords: r.Keywords, Entropy: r.Entropy, Expr: strings.ReplaceAll(beginning.ReplaceAllString(r.Regex, "(?i)"), ending, ourEnding)}
		for _, a := range r.Allowlists {
			if a.RegexTarget == "" {
				made.Allow = append(made.Allow, a.Regexes...)
			}
		}
		if err := enc.Encode(made); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("rules.jsonl", []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
