package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/config"
	"chela/internal/surface/cli/console"
)

func (c *commands) configCommand() *cobra.Command {
	return console.Group("config", "Show and change settings",
		&cobra.Command{
			Use: "list", Short: "List every setting and its source", Args: console.Exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return c.configList(cmd.Context()) },
		},
		&cobra.Command{
			Use: "get KEY", Short: "Print one setting", Args: console.Exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error { return c.configGet(cmd.Context(), args[0]) },
		},
		c.configSetCommand(),
		&cobra.Command{
			Use: "unset KEY", Short: "Take one setting out of config.toml", Args: console.Exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.configEdit(cmd.Context(), func(home config.Home) error { return config.Unset(home, args[0]) })
			},
		},
		&cobra.Command{
			Use: "path", Short: "Print the path of config.toml", Args: console.Exactly(0),
			RunE: func(*cobra.Command, []string) error { return c.configPath() },
		},
	)
}

func (c *commands) configList(ctx context.Context) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	return console.List(c.p, cfg.Values(), []string{"KEY", "VALUE", "SOURCE"}, func(v chela.Setting) []string {
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

// configSetCommand takes the argument after the key as the value, also if it
// begins with a minus: flags come before the key, or after the value.
func (c *commands) configSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Write one setting into config.toml",
		Args: func(cmd *cobra.Command, args []string) error {
			values := args[:min(len(args), 2)]
			if err := cmd.ParseFlags(args[len(values):]); err != nil {
				return err
			}
			return console.Exactly(2)(cmd, append(values[:len(values):len(values)], cmd.Flags().Args()...))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, err := cmd.Flags().GetBool("help"); err == nil && asked {
				return cmd.Help() // cobra has only parsed the arguments before the key
			}
			return c.configEdit(cmd.Context(), func(home config.Home) error { return config.Set(home, args[0], args[1]) })
		},
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// configEdit changes config.toml, even an invalid one, because the edit may
// correct it. A running daemon has read the old file, which is reported.
func (c *commands) configEdit(ctx context.Context, edit func(config.Home) error) error {
	home, err := config.Find(c.configInput())
	if err != nil {
		return err
	}
	if err := edit(home); err != nil {
		return err
	}
	if c.Served(ctx, home) {
		c.p.Note("chela serve holds the home and goes on with the settings it began with: restart it")
	}
	return nil
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
