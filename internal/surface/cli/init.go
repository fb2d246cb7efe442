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
	cmd := terminal.Command("init", "Set up a home", func(ctx context.Context, in setup.Options) error {
		if err := in.Check(c.Stdin); err != nil {
			return err
		}
		return c.initialize(ctx, in)
	})
	cmd.Long = "Set up a home: find keys and servers of models, test one, and write it into config.toml.\n" +
		"What is there already stays as it is."
	cmd.Example = "  chela init\n  chela init --yes\n  chela init --base-url http://127.0.0.1:8000/v1\n" +
		"  chela init --provider openai --key-stdin < key.txt"
	return cmd
}

// initialize creates the home, a first config.toml and the database, and chooses a
// model. Existing parts stay unchanged.
func (c *commands) initialize(ctx context.Context, in setup.Options) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	if err := setup.WriteConfig(cfg.Home); err != nil {
		return err
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		for _, agent := range cfg.AgentNames() {
			if _, err := b.Seed(ctx, agent); err != nil {
				return err
			}
		}
		if err := b.MakeKey(ctx); err != nil {
			return err
		}
		chooser := &setup.Setup{Printer: c.Printer, Conn: b.Connection, Config: cfg, Stdin: c.Stdin}
		if err := chooser.Run(ctx, in); err != nil {
			return err
		}
		var secret string
		if in.Yes || in.Token {
			if secret, err = firstToken(ctx, b); err != nil {
				return err
			}
		}
		s, err := api.Call(ctx, b, api.StatusShow, api.None{})
		if err != nil {
			return err
		}
		if cfg, err = c.asking(ctx, ""); err != nil {
			return err
		}
		if b.Served {
			c.noteServed()
		}
		return c.initialized(cfg, s, secret)
	})
}

// initialized reports the result. The secret is empty if no token was made.
func (c *commands) initialized(cfg *config.Config, s api.Status, secret string) error {
	if c.JSON {
		s.Model = cfg.Model
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
	c.Note(`next: chela ask "what time is it in Tokyo?", or chela for a chat`)
	return nil
}
