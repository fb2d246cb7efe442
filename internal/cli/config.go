package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela/internal/cli/manners"
	"chela/internal/config"
)

func (c *commands) configCommand() *cobra.Command {
	return manners.Group("config", "Show and change settings",
		&cobra.Command{
			Use: "list", Short: "List every setting and where it comes from", Args: manners.Exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return c.configList(cmd.Context()) },
		},
		&cobra.Command{
			Use: "get KEY", Short: "Print one setting", Args: manners.Exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error { return c.configGet(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "set KEY VALUE", Short: "Write one setting into config.toml", Args: manners.Exactly(2),
			RunE: func(_ *cobra.Command, args []string) error { return c.configSet(args[0], args[1]) },
		},
		&cobra.Command{
			Use: "path", Short: "Print the path of config.toml", Args: manners.Exactly(0),
			RunE: func(*cobra.Command, []string) error { return c.configPath() },
		},
	)
}

func (c *commands) configList(ctx context.Context) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	return manners.List(c.p, cfg.Values(), []string{"KEY", "VALUE", "SOURCE"}, func(v config.Value) []string {
		return []string{v.Key, v.Value, v.Source}
	})
}

func (c *commands) configGet(ctx context.Context, key string) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	v, err := cfg.Value(key)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(v)
	}
	c.p.Line(v.Value)
	return nil
}

// configSet works where config.toml is wrong too, as it may be what mends it.
func (c *commands) configSet(key, value string) error {
	home, err := config.Find(c.configInput())
	if err != nil {
		return err
	}
	return config.Set(home, key, value)
}

func (c *commands) configPath() error {
	home, err := config.Find(c.configInput())
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(map[string]string{"path": home.ConfigFile()})
	}
	c.p.Line(home.ConfigFile())
	return nil
}
