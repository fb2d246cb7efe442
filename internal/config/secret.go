package config

import (
	"strings"

	"chela"
	"chela/internal/config/field"
)

// Vault sets where the master key of the secrets is kept.
type Vault struct {
	Key string `key:"key" default:"file" words:"file keyring"` // where a new one goes
}

// MasterKey returns the master key of the environment, or nothing.
func (c *Config) MasterKey() string { return c.variable(envMasterKey) }

// envMasterKey is the environment variable of the master key. No program that chela
// starts gets it.
const envMasterKey = "SECRETS_MASTER_KEY"

// Secret resolves a reference to a secret: env:NAME is the environment variable
// NAME. It is Invalid if the reference is malformed or the variable is not set.
func (c *Config) Secret(reference string) ([]byte, error) {
	name, ok := strings.CutPrefix(reference, "env:")
	if !ok || name == "" {
		return nil, chela.E(chela.Invalid, field.Cut(reference)+" does not say where a secret is").
			WithHint("put it into an environment variable and refer to that: env:NAME")
	}
	value := c.variable(name)
	if value == "" {
		return nil, chela.E(chela.Invalid, "the variable "+field.Cut(name)+" is not set").
			WithHint("set it where chela is started, to the secret that both sides know")
	}
	return []byte(value), nil
}
