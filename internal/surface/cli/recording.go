package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"chela"
)

// set overrides a setting of configuration and environment.
func (c *commands) set(key, value string) {
	if c.flags == nil {
		c.flags = map[string]string{}
	}
	c.flags[key] = value
}

// providerFlag adds the flag --provider to a command that calls models.
func (c *commands) providerFlag(cmd *cobra.Command) {
	cmd.Flags().Var(recording{c}, "provider", "who answers in place of all models: replay:DIR plays the recording in a folder")
}

// recording is the value of the flag --provider.
type recording struct{ c *commands }

// String implements pflag.Value.
func (r recording) String() string { return "" }

// Type implements pflag.Value.
func (r recording) Type() string { return "replay:DIR" }

// Set implements pflag.Value.
func (r recording) Set(text string) error {
	dir, ok := strings.CutPrefix(text, "replay:")
	if !ok || dir == "" {
		return chela.E(chela.Invalid, "it has to be replay:DIR").WithHint("models are chosen with --model")
	}
	r.c.set("replay", dir)
	return nil
}
