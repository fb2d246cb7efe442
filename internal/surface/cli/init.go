package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/cli/setup"
	"chela/internal/surface/terminal"
)

func (c *commands) initCommand() *cobra.Command {
	type arguments struct {
		Yes bool `flag:"yes" help:"ask nothing and take the defaults"`
	}
	cmd := terminal.Command("init", "Set up a home", func(ctx context.Context, in arguments) error {
		if !in.Yes && !terminal.IsTTY(c.Stdin) {
			return invalid("chela init asks questions, and standard input is not a terminal", "take the defaults with chela init --yes")
		}
		return c.initialize(ctx, !in.Yes)
	})
	cmd.Long = "Set up a home: ask for the main settings, write config.toml, create the database and a first token.\n" +
		"Existing files are not changed."
	return cmd
}

// initialize creates the home, a first config.toml, the database and a first
// token. Existing parts stay unchanged.
func (c *commands) initialize(ctx context.Context, ask bool) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	if err := setup.WriteConfig(cfg.Home); err != nil {
		return err
	}
	if ask {
		if err := setup.Ask(ctx, c.Printer, terminal.NewInput(c.Stdin), cfg); err != nil {
			return err
		}
		if cfg, err = c.asking(ctx, ""); err != nil {
			return err
		}
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		s, err := api.Call(ctx, b, api.StatusShow, api.None{})
		if err != nil {
			return err
		}
		for _, agent := range cfg.AgentNames() {
			if _, err := b.Seed(ctx, agent); err != nil {
				return err
			}
		}
		if err := b.MakeKey(ctx); err != nil {
			return err
		}
		secret, err := firstToken(ctx, b)
		if err != nil {
			return err
		}
		return c.initialized(cfg, s, secret)
	})
}

// initialized reports the result. The secret is empty if there was a token
// before.
func (c *commands) initialized(cfg *config.Config, s api.Status, secret string) error {
	if c.JSON {
		return c.Document(struct {
			api.Status
			Token string `json:"token,omitempty"`
		}{s, secret})
	}
	c.Fields("home", s.Home, "config", cfg.Home.ConfigFile(), "model", cfg.Model, "token", secret)
	if secret != "" {
		c.Note("keep the token, it is not shown again; it grants full access (chela tokens create makes others)")
	}
	if _, _, err := cfg.Resolve(cfg.Model); err != nil {
		c.Note("the model cannot answer yet: " + chela.MessageOf(err))
	}
	c.Note(`next: chela ask "what time is it in Tokyo?"`)
	return nil
}
