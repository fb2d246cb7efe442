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

// A Service offers models under a known name.
type Service struct {
	Name        string    `toml:"name"`
	Kind        string    `toml:"kind"`          // the protocol, as in [providers.NAME] kind
	BaseURL     string    `toml:"base_url"`      // empty: the default of the kind
	KeyEnv      string    `toml:"key_env"`       // variable of its key; empty if it needs none
	OtherKeyEnv string    `toml:"other_key_env"` // fallback variable of its key
	BaseEnv     string    `toml:"base_env"`      // variable of another base URL
	Model       string    `toml:"model"`         // default model if only the key is set; empty: never chosen by its key
	Keyless     bool      `toml:"keyless"`       // it needs no key and is free
	Lacks       []Feature `toml:"lacks"`         // protocol features it does not support
	Has         []Feature `toml:"has"`           // features it supports or requires beyond its protocol
	Source      string    `toml:"source"`
	Date        string    `toml:"date"`
}

// Find returns the service that speaks a protocol at an address, or else the
// service of that name, which may have moved to another address.
func Find(name, kind, baseURL string) (Service, bool) {
	all := known().Services
	same := func(s Service) bool {
		return s.Kind == kind && s.BaseURL != "" && strings.TrimSuffix(s.BaseURL, "/") == strings.TrimSuffix(baseURL, "/")
	}
	at := slices.IndexFunc(all, same)
	if at < 0 {
		at = slices.IndexFunc(all, func(s Service) bool { return s.Name == name && s.Kind == kind && s.BaseURL != "" })
	}
	if at < 0 {
		return Service{}, false
	}
	return all[at], true
}

// A Feature is an optional part of a protocol, or a vendor's extension of it.
type Feature string

// Features that a service may lack.
const (
	FeatureParallelCalls       Feature = "parallel_calls"        // several calls in one answer
	FeatureStrict              Feature = "strict"                // schemas that constrain the arguments
	FeatureStreamUsage         Feature = "stream_usage"          // stream_options; without it usage is sent unasked
	FeatureMaxCompletionTokens Feature = "max_completion_tokens" // instead of max_tokens
	FeatureImages              Feature = "images"
	FeatureReasoningEffort     Feature = "reasoning_effort"
	FeatureEffortNone          Feature = "effort_none"    // as a value of reasoning_effort
	FeatureEffortMinimal       Feature = "effort_minimal" // as a value of reasoning_effort; falls back to low
	FeatureEffortXHigh         Feature = "effort_xhigh"   // as a value of reasoning_effort; falls back to high
	FeaturePromptCacheKey      Feature = "prompt_cache_key"
	FeatureAnyCallID           Feature = "any_call_id" // ids of calls other than nine letters and digits
)

// Extensions that a service may have.
const (
	FeatureReasoningContent Feature = "reasoning_content" // its reasoning must be sent back under that name
	FeatureReasoning        Feature = "reasoning"         // its reasoning must be sent back under that name
	FeatureReasoningDetails Feature = "reasoning_details" // its reasoning must be sent back as the list it returned
	FeatureThinkingSwitch   Feature = "thinking_switch"   // a member of its own turns thinking off
	FeatureParallelSwitch   Feature = "parallel_switch"   // several calls in one answer only on request
	FeatureUsageCost        Feature = "usage_cost"        // the usage of an answer says what it cost
	FeaturePrices           Feature = "prices"            // the list of models says what they cost
	FeatureCacheControl     Feature = "cache_control"     // prompts of Claude are marked for the cache
)

// Optional fields of requests in OpenAI's protocols. Servers and models that do
// not know one refuse the request.
const (
	OptionalEffort              = "reasoning_effort"
	OptionalReasoning           = "reasoning" // of Responses
	OptionalStreamOptions       = "stream_options"
	OptionalMaxCompletionTokens = "max_completion_tokens"
	OptionalMaxTokens           = "max_tokens"
	OptionalPromptCacheKey      = "prompt_cache_key"
	OptionalParallelCalls       = "parallel_tool_calls"
	OptionalStrict              = "strict" // of a tool
	OptionalThinking            = "thinking"
)

// OptionalFields lists the optional fields.
func OptionalFields() []string {
	return []string{
		OptionalEffort, OptionalReasoning, OptionalStreamOptions, OptionalMaxCompletionTokens, OptionalMaxTokens, OptionalPromptCacheKey,
		OptionalParallelCalls, OptionalStrict, OptionalThinking,
	}
}

//go:embed services.toml
var servicesFile []byte

// facts are the rows of services.toml.
type facts struct {
	Services []Service  `toml:"services"`
	Levels   []levelRow `toml:"levels"`
}

var known = sync.OnceValue(func() facts {
	var file facts
	if err := toml.NewDecoder(bytes.NewReader(servicesFile)).DisallowUnknownFields().Decode(&file); err != nil {
		panic(fmt.Sprintf("services.toml of the program: %v", invalid("services.toml", err)))
	}
	return file
})

// Services returns all services, in order of preference for the default model.
func Services() []Service { return slices.Clone(known().Services) }
