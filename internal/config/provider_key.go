package config

import (
	"cmp"
	"slices"

	"chela"
	"chela/internal/config/field"
)

// Environment variables of the keys that sign requests to Amazon, as its own
// programs name them.
const (
	envKeyID        = "AWS_ACCESS_KEY_ID"
	envSecretKey    = "AWS_SECRET_ACCESS_KEY"
	envSessionToken = "AWS_SESSION_TOKEN"
)

// Signing holds the keys that sign requests to Bedrock, if it has no key of its
// own.
type Signing struct{ KeyID, Secret, SessionToken field.Secret }

// IsSet reports whether requests can be signed.
func (s Signing) IsSet() bool { return s.KeyID.IsSet() && s.Secret.IsSet() }

// LookUp reads the keys of a provider. If only further keys are set, the first
// of them becomes the key.
func (s *Provider) LookUp(env map[string]string) {
	s.Key = lookUp(s.reference, env)
	s.further = nil
	for _, reference := range s.references {
		if key := lookUp(chela.SecretReference(reference), env); key.IsSet() {
			s.further = append(s.further, key)
		}
	}
	if !s.Key.IsSet() && len(s.further) > 0 {
		s.Key = s.further[0]
	}
	if s.Kind == ProviderBedrock && !s.Key.IsSet() {
		s.Signing = Signing{
			field.NewSecret(env[envKeyID], ""), field.NewSecret(env[envSecretKey], ""), field.NewSecret(env[envSessionToken], ""),
		}
	}
}

// lookUp returns the secret of a reference to the environment. Another reference is
// resolved when the key is sent, and stands for it until then.
func lookUp(reference chela.SecretReference, env map[string]string) field.Secret {
	switch place, name := reference.Split(); place {
	case "":
		return field.Secret{}
	case chela.PlaceEnvironment:
		return field.NewSecret(env[name], "")
	}
	return field.NewSecret(string(reference), string(reference))
}

// IsReference reports whether Key is a [chela.SecretReference] to the vault or to a
// command, which has to be resolved when the key is sent.
func (s Provider) IsReference() bool { return s.Key.IsSet() && s.Key.String() == s.Key.Reveal() }

// Variable is the environment variable of the key; empty if it is elsewhere, or none is
// needed.
func (s *Provider) Variable() string {
	if place, name := s.reference.Split(); place == chela.PlaceEnvironment {
		return name
	}
	return ""
}

// KeySource describes the source of a provider's key: "env NAME" if it is set,
// "default: NAME is not set" if it is not, and nothing if none is needed.
func (s *Provider) KeySource() string {
	switch variable := s.Variable(); {
	case s.IsReference():
		return s.Key.String()
	case s.Key.IsSet():
		return "env " + variable
	case s.Signing.IsSet():
		return "env " + envKeyID
	case variable != "":
		return "default: " + variable + " is not set"
	}
	return ""
}

// keyName is the name of the key for people.
func (s *Provider) keyName() string { return cmp.Or(s.Variable(), string(s.reference)) }

// Keyed returns nil if the provider has a key or needs none, and otherwise a
// Denied error that names the missing one.
func (s *Provider) Keyed() error {
	missing := s.Variable()
	if missing == "" || s.Key.IsSet() || s.Signing.IsSet() {
		return nil
	}
	if s.Kind == ProviderBedrock {
		missing += ", or " + envKeyID + " and " + envSecretKey
	}
	return chela.E(chela.Denied, "provider "+s.Name+" has no key").WithHint("set " + missing + ", or choose another model")
}

// WithEachKey returns the provider once for each of its keys, in the order of
// use. A provider without keys is returned unchanged.
func (s Provider) WithEachKey() []Provider {
	all := []Provider{s}
	for _, key := range s.further {
		if !slices.ContainsFunc(all, func(have Provider) bool { return have.Key == key }) {
			next := s
			next.Key = key
			all = append(all, next)
		}
	}
	return all
}

// WithKey returns the provider with a key in place of all its own; with none if the
// key is empty.
func (s Provider) WithKey(key string) Provider {
	s.Key, s.Signing, s.further = field.NewSecret(key, "set"), Signing{}, nil
	return s
}

// Secrets returns every key that is set, and no references.
func (s Provider) Secrets() []string {
	all := []string{s.Signing.KeyID.Reveal(), s.Signing.Secret.Reveal(), s.Signing.SessionToken.Reveal()}
	for _, with := range s.WithEachKey() {
		if !with.IsReference() {
			all = append(all, with.Key.Reveal())
		}
	}
	return slices.DeleteFunc(all, func(secret string) bool { return secret == "" })
}
