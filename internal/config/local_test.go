package config_test

import (
	"testing"

	"chela/internal/config"
)

// TestLocalModel gives a model that was found on the machine: it is used where
// nobody chose one and there is no key.
func TestLocalModel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		file, local string
		environ     []string
		want        string
		unchosen    bool
	}{
		{"none", "", "", nil, "offline/rules (default: no key found)", true},
		{"found", "", "ollama/a:1b", nil, "ollama/a:1b (default: no key found, Ollama answers)", true},
		{"key", "", "ollama/a:1b", []string{"OPENROUTER_API_KEY=x"}, "openrouter/openrouter/auto (default: OPENROUTER_API_KEY is set)", false},
		{"chosen", "model = \"offline/rules\"", "ollama/a:1b", nil, "offline/rules (file config.toml:1)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(tt.file, tt.environ...)
			in.Local = tt.local
			c, err := config.Load(in)
			if err != nil {
				t.Fatal(err)
			}
			v, err := c.Value("model")
			if got := v.Value + " (" + v.Source + ")"; err != nil || got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
			unchosen, local := c.Unchosen()
			if unchosen != tt.unchosen || local != (tt.name == "found") {
				t.Errorf("unchosen %t, local %t", unchosen, local)
			}
		})
	}
}
