package config_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
)

// TestBedrock has each way to give keys, and the region.
func TestBedrock(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		file    string
		key     string // as shown, with its source
		region  string
		usable  bool
	}{
		{"nothing", nil, "", "not set (default: AWS_BEARER_TOKEN_BEDROCK is not set)", " (default)", false},
		{"token", []string{"AWS_BEARER_TOKEN_BEDROCK=t", "AWS_REGION=eu-west-1"}, "", "set (env AWS_BEARER_TOKEN_BEDROCK)", "eu-west-1 (env AWS_REGION)", true},
		{"keys", []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_DEFAULT_REGION=us-east-1"}, "", "set (env AWS_ACCESS_KEY_ID)", "us-east-1 (env AWS_DEFAULT_REGION)", true},
		{"half a pair", []string{"AWS_ACCESS_KEY_ID=a"}, "", "not set (default: AWS_BEARER_TOKEN_BEDROCK is not set)", " (default)", false},
		{"both regions", []string{"AWS_REGION=a", "AWS_DEFAULT_REGION=b"}, "[providers.bedrock]\nregion = \"c\"", "not set (default: AWS_BEARER_TOKEN_BEDROCK is not set)", "a (env AWS_REGION)", false},
		{"file", nil, "[providers.bedrock]\nregion = \"us-west-2\"", "not set (default: AWS_BEARER_TOKEN_BEDROCK is not set)", "us-west-2 (file config.toml:2)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, tt.file, tt.environ...)
			for key, want := range map[string]string{"api_key": tt.key, "region": tt.region} {
				v, err := c.Value("providers.bedrock." + key)
				if got := v.Value + " (" + v.Source + ")"; err != nil || got != want {
					t.Errorf("%s is %s (%v), want %s", key, got, err, want)
				}
			}
			_, _, err := c.Resolve("bedrock/m")
			if (err == nil) != tt.usable || err != nil && !strings.Contains(chela.HintOf(err), "AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID") {
				t.Errorf("resolved with %v", err)
			}
			if c.Model != "offline/rules" {
				t.Errorf("keys for Amazon chose the model %s", c.Model)
			}
		})
	}
}

func TestBedrockSecrets(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", "AWS_ACCESS_KEY_ID=idididid", "AWS_SECRET_ACCESS_KEY=secsecsec", "AWS_SESSION_TOKEN=toktoktok")
	if got := strings.Join(c.Secrets(), " "); got != "idididid secsecsec toktoktok" {
		t.Errorf("secrets are %q", got)
	}
	if _, err := config.Load(input("[providers.openai]\nregion = \"us-east-1\"")); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a region of OpenAI: got %v", err)
	}
}
