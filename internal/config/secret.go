package config

import (
	"strings"

	"chela"
	"chela/internal/config/field"
)

// Secret returns what a reference stands for: that of env:NAME is the variable of the
// environment. It is Invalid if it is no such reference, or the variable is not set.
func (c *Config) Secret(reference string) ([]byte, error) {
	name, ok := strings.CutPrefix(reference, "env:")
	if !ok || name == "" {
		return nil, chela.E(chela.Invalid, field.Cut(reference)+" does not say where a secret is").
			WithHint("keep it in a variable of the environment, and name that: env:NAME")
	}
	value := c.variable(name)
	if value == "" {
		return nil, chela.E(chela.Invalid, "the variable "+field.Cut(name)+" is not set").
			WithHint("set it where chela is started, to the secret that both sides know")
	}
	return []byte(value), nil
}
