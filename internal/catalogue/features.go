package catalogue

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// A Service is somebody who serves models, and is known by name.
type Service struct {
	Name        string    `toml:"name"`
	Kind        string    `toml:"kind"`          // the protocol, as in [providers.NAME] kind
	BaseURL     string    `toml:"base_url"`      // empty: the one of the kind
	KeyEnv      string    `toml:"key_env"`       // where its key is found; empty if it needs none
	OtherKeyEnv string    `toml:"other_key_env"` // where its key is looked for as well, if it is not there
	BaseEnv     string    `toml:"base_env"`      // where another base URL is found
	Model       string    `toml:"model"`         // used when only its key is found; empty if it is never chosen for its key
	Keyless     bool      `toml:"keyless"`       // it needs no key, and costs nothing
	Lacks       []Feature `toml:"lacks"`         // what it does not understand of its protocol
	Source      string    `toml:"source"`
	Date        string    `toml:"date"`
}

// Without reports whether a service does not understand something.
func (s Service) Without(f Feature) bool { return slices.Contains(s.Lacks, f) }

// A Feature is a part of a protocol that not everybody who speaks it
// understands.
type Feature string

// The features.
const (
	FeatureParallelCalls       Feature = "parallel_calls"        // parallel_tool_calls
	FeatureStrict              Feature = "strict"                // schemas that arguments are held to
	FeatureStreamUsage         Feature = "stream_usage"          // stream_options
	FeatureDeveloperRole       Feature = "developer_role"        // instead of system
	FeatureMaxCompletionTokens Feature = "max_completion_tokens" // instead of max_tokens
	FeatureImages              Feature = "images"
	FeatureToolChoice          Feature = "tool_choice"
	FeatureReasoningEffort     Feature = "reasoning_effort"
	FeaturePromptCacheKey      Feature = "prompt_cache_key"
)

//go:embed services.toml
var servicesFile []byte

var services = sync.OnceValue(func() []Service {
	var file struct {
		Services []Service `toml:"services"`
	}
	if err := toml.NewDecoder(bytes.NewReader(servicesFile)).DisallowUnknownFields().Decode(&file); err != nil {
		panic(fmt.Sprintf("services.toml of the program: %v", invalid("services.toml", err)))
	}
	return file.Services
})

// Services returns all services, in the order in which a default model is
// looked for.
func Services() []Service { return slices.Clone(services()) }
