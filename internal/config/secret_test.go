package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/config"
)

// TestReferences: a key in the vault or of a command is a reference until it is sent;
// it is listed as such, is no value to redact, and makes its provider usable.
func TestReferences(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `[providers.openai]
api_key = "secret:openai"
keys = ["env:SECOND", "exec:op read op://work/openai/key", "env:NONE"]
[providers.local]
kind = "openai"
base_url = "http://127.0.0.1:1/v1"
api_key = "env:LOCAL_KEY"`, "SECOND=swordfish", "SECRETS_MASTER_KEY=master", "PATH=/bin")
	p, _, err := c.Resolve("openai/x")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, with := range p.WithEachKey() {
		keys = append(keys, with.Key.String())
		if with.IsReference() == (with.Key.String() == "set") {
			t.Errorf("%v is a reference: %v", with.Key, with.IsReference())
		}
	}
	if diff := cmp.Diff([]string{"secret:openai", "set", "exec:op read op://work/openai/key"}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"swordfish"}, c.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"providers.openai.api_key": "secret:openai (file config.toml:2)",
		"providers.openai.keys":    "2 of 3 set: env:SECOND, exec:op read op://work/openai/key, env:NONE (file config.toml:3)",
		"providers.local.api_key":  "not set: env:LOCAL_KEY (file config.toml:7)",
		"model":                    "openai/gpt-6.1-terra (default: secret:openai is set)",
	}
	if diff := cmp.Diff(want, sources(t, c, "providers.openai.api_key", "providers.openai.keys", "providers.local.api_key", "model")); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	references := []config.Reference{
		{Setting: "providers.local.api_key", Secret: "env:LOCAL_KEY"},
		{Setting: "providers.openai.api_key", Secret: "secret:openai"},
		{Setting: "providers.openai.keys", Secret: "env:SECOND"},
		{Setting: "providers.openai.keys", Secret: "exec:op read op://work/openai/key"},
		{Setting: "providers.openai.keys", Secret: "env:NONE"},
	}
	if diff := cmp.Diff(references, c.References()); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if environ := c.CommandEnviron(); c.MasterKey() != "master" || !slices.Equal(environ, []string{"SECOND=swordfish", "PATH=/bin"}) {
		t.Errorf("master key %q, environment of commands %q", c.MasterKey(), environ)
	}
}

// TestEveryRecommendedReferenceIsAccepted: the refusal of a literal key names forms that
// can be set in its place.
func TestEveryRecommendedReferenceIsAccepted(t *testing.T) {
	t.Parallel()
	h := home(t, "")
	refused := config.Set(h, "providers.openai.api_key", "sk-123")
	for _, form := range []string{"secret:NAME", "env:NAME", "exec:COMMAND"} {
		if !strings.Contains(words(refused), form) {
			t.Errorf("%s is not recommended: %v", form, words(refused))
		}
		if err := config.Set(h, "providers.openai.api_key", form); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}
