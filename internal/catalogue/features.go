package catalogue

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
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
	Has         []Feature `toml:"has"`           // what it understands or wants beyond its protocol
	Source      string    `toml:"source"`
	Date        string    `toml:"date"`
}

// Find returns the service that speaks a protocol at an address, whatever it is
// called, or the one of that name that may have moved to another address.
func Find(name, kind, baseURL string) (Service, bool) {
	same := func(s Service) bool {
		return s.Kind == kind && s.BaseURL != "" && strings.TrimSuffix(s.BaseURL, "/") == strings.TrimSuffix(baseURL, "/")
	}
	at := slices.IndexFunc(services(), same)
	if at < 0 {
		at = slices.IndexFunc(services(), func(s Service) bool { return s.Name == name && s.Kind == kind && s.BaseURL != "" })
	}
	if at < 0 {
		return Service{}, false
	}
	return services()[at], true
}

// A Feature is a part of a protocol that not everybody who speaks it
// understands, or one that some add to it.
type Feature string

// The features that a service may lack.
const (
	FeatureParallelCalls       Feature = "parallel_calls"        // several calls in one answer
	FeatureStrict              Feature = "strict"                // schemas that arguments are held to
	FeatureStreamUsage         Feature = "stream_usage"          // stream_options; usage comes without
	FeatureMaxCompletionTokens Feature = "max_completion_tokens" // instead of max_tokens
	FeatureImages              Feature = "images"
	FeatureReasoningEffort     Feature = "reasoning_effort"
	FeatureEffortNone          Feature = "effort_none"    // as a value of reasoning_effort
	FeatureEffortMinimal       Feature = "effort_minimal" // likewise; low comes next to it
	FeatureEffortXHigh         Feature = "effort_xhigh"   // likewise; high comes next to it
	FeaturePromptCacheKey      Feature = "prompt_cache_key"
	FeatureAnyCallID           Feature = "any_call_id" // ids of calls other than nine letters and digits
)

// The features that a service may have of its own.
const (
	FeatureReasoningContent Feature = "reasoning_content" // wants its reasoning back under that name
	FeatureReasoning        Feature = "reasoning"         // likewise
	FeatureReasoningDetails Feature = "reasoning_details" // likewise, as a list that it made
	FeatureThinkingSwitch   Feature = "thinking_switch"   // thinking is turned off by a member of its own
	FeatureParallelSwitch   Feature = "parallel_switch"   // several calls in one answer only if asked for
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
