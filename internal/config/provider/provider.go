// Package provider holds what a [providers.NAME] section of config.toml may say,
// and the providers that are there without one.
package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/config/address"
	"chela/internal/config/field"
)

// A Kind is a protocol that chela speaks with a provider.
type Kind string

// The kinds of providers.
const (
	Anthropic Kind = "anthropic"        // Messages
	OpenAI    Kind = "openai"           // Chat Completions
	Responses Kind = "openai-responses" // Responses
	Gemini    Kind = "gemini"           // the Gemini API
	Ollama    Kind = "ollama"           // Ollama's own
	Bedrock   Kind = "bedrock"          // Converse, of Amazon Bedrock
	Offline   Kind = "offline"          // built-in rules; no model
	Script    Kind = "script"           // plays a file; the model's name is its path
	Replay    Kind = "replay"           // plays a recording; the model's name is its folder
)

var kinds = []Kind{Anthropic, OpenAI, Responses, Gemini, Ollama, Bedrock, Offline, Script, Replay}

// ComesAlong reports whether providers of a kind are part of the program: they have
// neither an address nor a key.
func (k Kind) ComesAlong() bool { return k == Offline || k == Script || k == Replay }

// Settings say how to reach somebody who serves models.
type Settings struct {
	Name    string
	Kind    Kind
	BaseURL string       // empty: the one of the kind
	Key     field.Secret // not set where none is needed
	Region  string       // of Bedrock
	Signing Signing

	// What is known of the service that it is: that nobody needs a key, what it
	// does not understand of its protocol, and what it understands beyond it.
	// Lacks is nil if it is no known service.
	Keyless    bool
	Lacks, Has []catalogue.Feature

	reference  string         // env:NAME, or empty where no key is needed
	references []string       // of further keys
	further    []field.Secret // those that are set
}

// Keys are all that a section may say, in the order of the documentation.
var Keys = []field.Key[Settings]{
	field.Named("kind", func(s *Settings) field.Field { return field.Choice(&s.Kind, kinds) }),
	field.Named("base_url", func(s *Settings) field.Field {
		f := field.Text(&s.BaseURL, "an http or https URL without credentials", address.IsURL)
		f.Secret = true // a URL with a password is refused, and not repeated
		return f
	}),
	field.Named("api_key", keyReference),
	field.Named("region", func(s *Settings) field.Field {
		return field.Text(&s.Region, `a region of Amazon, such as "us-east-1"`, field.OneLine)
	}),
	field.Named("keys", furtherReferences),
}

// Services are the providers that are there without a section, in the order in
// which a default model is looked for: those of the catalogue whose protocol this
// version speaks, and what comes with the program.
func Services() []catalogue.Service {
	known := slices.DeleteFunc(catalogue.Services(), func(s catalogue.Service) bool {
		return !slices.Contains(kinds, Kind(s.Kind))
	})
	return append(known,
		catalogue.Service{Name: "offline", Kind: string(Offline), Keyless: true},
		catalogue.Service{Name: "script", Kind: string(Script), Keyless: true},
		catalogue.Service{Name: "replay", Kind: string(Replay), Keyless: true})
}

// Of returns the settings of a service that nobody changed. Where its key has two
// names in the environment, the one that is set counts.
func Of(s catalogue.Service, env map[string]string) *Settings {
	p := &Settings{Name: s.Name, Kind: Kind(s.Kind), BaseURL: s.BaseURL}
	switch {
	case s.KeyEnv == "":
	case env[s.KeyEnv] == "" && env[s.OtherKeyEnv] != "":
		p.reference = "env:" + s.OtherKeyEnv
	default:
		p.reference = "env:" + s.KeyEnv
	}
	return p
}

// Recognize takes what the catalogue knows of the service that s is.
func (s *Settings) Recognize() {
	known, ok := catalogue.Find(s.Name, string(s.Kind), s.BaseURL)
	if !ok {
		return
	}
	s.Keyless, s.Has = known.Keyless, known.Has
	s.Lacks = append([]catalogue.Feature{}, known.Lacks...)
}

// Idle returns the keys that mean nothing for the kind.
func (s *Settings) Idle() []string {
	var idle []string
	if s.Kind != Bedrock {
		idle = append(idle, "region")
	}
	if s.Kind.ComesAlong() {
		idle = append(idle, "base_url", "api_key", "keys")
	}
	return idle
}

// Kinds lists the kinds for messages.
func Kinds() string { return fmt.Sprint(kinds) }

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isReference reports whether s names a variable of the environment.
func isReference(s string) bool {
	name, ok := strings.CutPrefix(s, "env:")
	return ok && envName.MatchString(name)
}

// keyReference names where a key is; the key itself is refused.
func keyReference(p *Settings) field.Field {
	return field.Field{
		Want:   `"env:NAME" or "secret:NAME", never the key itself`,
		Secret: true,
		Put: func(v any) error {
			s, _ := v.(string)
			if name, ok := strings.CutPrefix(s, "secret:"); ok && chela.ValidName(name) {
				return chela.E(chela.Unsupported, "secret:NAME is not supported by this version").WithHint("use env:NAME")
			}
			if !isReference(s) {
				return field.ErrUnwanted
			}
			p.reference = s
			return nil
		},
		Show: func() string {
			if p.Key.IsSet() || p.Signing.IsSet() {
				return "set"
			}
			return "not set"
		},
	}
}

// furtherReferences name where further keys of a provider are.
func furtherReferences(p *Settings) field.Field {
	f := field.List(&p.references, `a list of "env:NAME", never the keys themselves`, isReference)
	f.Secret = true
	f.Show = func() string {
		if len(p.references) == 0 {
			return "not set"
		}
		return fmt.Sprintf("%d of %d set", len(p.further), len(p.references))
	}
	return f
}
