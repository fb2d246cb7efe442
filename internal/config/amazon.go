package config

// What the environment calls the keys that sign requests to Amazon, as its own
// programs do.
const (
	envKeyID        = "AWS_ACCESS_KEY_ID"
	envSecretKey    = "AWS_SECRET_ACCESS_KEY"
	envSessionToken = "AWS_SESSION_TOKEN"
)

// Signing holds the keys that sign requests to Bedrock, where it has no key of
// its own.
type Signing struct{ KeyID, Secret, SessionToken Secret }

// IsSet reports whether requests can be signed.
func (s Signing) IsSet() bool { return s.KeyID.IsSet() && s.Secret.IsSet() }

// lookUpSigning reads the keys that sign requests for all providers that want
// them and have no other key.
func (l *loader) lookUpSigning() {
	for _, p := range l.c.providers {
		if p.Kind == KindBedrock && !p.Key.IsSet() {
			p.Signing = Signing{Secret{value: l.env[envKeyID]}, Secret{value: l.env[envSecretKey]}, Secret{value: l.env[envSessionToken]}}
		}
	}
}

// regionOfAmazon applies the region that the environment names to the built-in
// Bedrock: AWS_REGION counts before AWS_DEFAULT_REGION.
func (l *loader) regionOfAmazon() error {
	path := []string{"providers", "bedrock", "region"}
	if err := l.variable("AWS_DEFAULT_REGION", path); err != nil {
		return err
	}
	return l.variable("AWS_REGION", path)
}
