package config_test

import (
	"slices"
	"testing"

	"chela/internal/model/catalogue"
)

// TestServicesAreRecognized has providers that are a known service by their
// name or by their address, and others.
func TestServicesAreRecognized(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[providers.mine]
kind = "openai"
base_url = "https://api.deepseek.com/"
[providers.other]
kind = "openai"
base_url = "https://llm.example/v1"
[providers.mistral]
kind = "openai-responses"
`, "VLLM_BASE_URL=http://10.0.0.9:8000/v1", "OPENAI_BASE_URL=http://proxy/v1")
	tests := []struct {
		provider       string
		known, keyless bool
		lacks, has     catalogue.Feature
	}{
		{"deepseek", true, false, catalogue.FeatureImages, catalogue.FeatureReasoningContent},
		{"mine", true, false, catalogue.FeatureImages, catalogue.FeatureReasoningContent},
		{"vllm", true, true, catalogue.FeatureStrict, catalogue.FeatureReasoning},
		{"llamacpp", true, true, catalogue.FeatureReasoningEffort, catalogue.FeatureParallelSwitch},
		{"openrouter", true, false, catalogue.FeatureStrict, catalogue.FeatureReasoningDetails},
		{"other", false, false, "", ""},
		{"openai", false, false, "", ""},
		{"mistral", false, false, "", ""},
	}
	for _, tt := range tests {
		p, err := c.Provider(tt.provider)
		if err != nil {
			t.Fatal(err)
		}
		if (p.Lacks != nil) != tt.known || p.Keyless != tt.keyless ||
			tt.known && !(slices.Contains(p.Lacks, tt.lacks) && slices.Contains(p.Has, tt.has)) {
			t.Errorf("%s: got lacks %v, has %v, keyless %v; want %+v", tt.provider, p.Lacks, p.Has, p.Keyless, tt)
		}
	}
}

// A server on this machine needs no key; a service elsewhere does.
func TestKeysOfServices(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "")
	for _, name := range []string{"vllm", "lmstudio", "llamacpp"} {
		if p, model, err := c.Resolve(name + "/qwen3"); err != nil || model != "qwen3" || p.BaseURL == "" {
			t.Errorf("%s: got %+v, %q and %v", name, p, model, err)
		}
	}
	for _, name := range []string{"groq", "together", "mistral", "deepseek", "xai", "cerebras", "fireworks"} {
		if _, _, err := c.Resolve(name + "/x"); err == nil {
			t.Errorf("%s is reached without a key", name)
		}
	}
}
