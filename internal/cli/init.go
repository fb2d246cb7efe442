package cli

import (
	"context"
	_ "embed" // for the first config.toml
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

// firstConfig is the config.toml of a new home: every line of it is a comment.
//
//go:embed first_config.toml
var firstConfig []byte

func (c *commands) initCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "init", Short: "Set up a home", Args: manners.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return chela.E(chela.Unsupported, "the guided set-up is not in this version").
					WithHint("use chela init --yes")
			}
			return c.initialize(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "take the defaults")
	return cmd
}

// initialize makes the home, a first config.toml and the database. What is
// there stays as it is.
func (c *commands) initialize(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	home := cfg.Home
	if err := writeFirst(home); err != nil {
		return chela.E(chela.Denied, "cannot write "+home.ConfigFile()).
			WithHint("make the folder writable, or choose another with --home").Because(err)
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		s, err := b.Status(ctx)
		if err != nil {
			return err
		}
		if c.p.JSON {
			return c.p.Document(s)
		}
		c.p.Fields([2]string{"home", s.Home}, [2]string{"config", home.ConfigFile()}, [2]string{"model", cfg.Model})
		c.p.Note(`next: chela ask "what time is it in Tokyo?"`)
		return nil
	})
}

// writeFirst writes config.toml unless there is one.
func writeFirst(home config.Home) error {
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(home.ConfigFile(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(firstConfig)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
