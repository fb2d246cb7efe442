package config_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
)

func TestSecret(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Input{
		Home: t.TempDir(), Environ: []string{"HOOK=swordfish", "EMPTY="}, ReadFile: func(string) ([]byte, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Secret("env:HOOK")
	if err != nil || string(got) != "swordfish" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, reference := range []string{"", "HOOK", "env:", "env:EMPTY", "env:NONE", "secret:HOOK", "swordfish"} {
		_, err := c.Secret(reference)
		if chela.KindOf(err) != chela.Invalid || chela.HintOf(err) == "" {
			t.Errorf("%q: %v, hint %q", reference, err, chela.HintOf(err))
		}
	}
	if _, err := c.Secret("env:NONE"); !strings.Contains(err.Error(), "NONE") {
		t.Errorf("the variable is not named: %v", err)
	}
}
