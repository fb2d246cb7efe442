package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/config"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/cli/routines"
	"chela/internal/surface/terminal"
)

// Main runs one command and returns its exit code. It closes everything it
// opens.
func Main(ctx context.Context, p Program) int {
	c := &commands{Program: p, p: console.NewPrinter(p.Stdout, p.Stderr)}
	root := c.root()
	root.SetArgs(append([]string{}, p.Args...))
	root.SetIn(p.Stdin)
	root.SetOut(c.p.Out)
	root.SetErr(c.p.Err)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !c.begun:
		err = console.WrongUse(cmd, err)
	case err != nil && ctx.Err() != nil && !c.stays:
		err = console.ErrTerminated
	}
	if err == nil && c.p.Lost() != nil {
		err = chela.E(chela.Unavailable, "cannot write the output").WithHint("see where it goes").Because(c.p.Lost())
	}
	if err != nil {
		fmt.Fprint(c.p.Err, terminal.Visible(chela.DetailOf(err)))
		fmt.Fprintln(c.p.Err, console.ErrorLine(err))
	}
	return console.ExitCode(err)
}

// commands is the state shared by all commands.
type commands struct {
	Program
	p     *console.Printer
	home  string
	flags map[string]string // settings that are given as flags, by key
	named string            // provider/model given to the command, for one request
	stays bool              // SIGTERM is its normal end: an error has another cause
	begun bool              // the arguments are right and a command runs
}

// root returns the tree of commands.
func (c *commands) root() *cobra.Command {
	root := &cobra.Command{
		Use:               "chela",
		Short:             "An agent that remembers, asks before it acts, and survives being killed",
		Long:              "Without a command, chela talks with you in the terminal.",
		Args:              console.NoCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error { c.begun = true; return nil },
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.chat(cmd.Context()) },
	}
	root.PersistentFlags().StringVar(&c.home, "home", "", "folder that holds everything (CHELA_HOME, default ~/.chela)")
	root.PersistentFlags().BoolVar(&c.p.JSON, "json", false, "print one JSON document")
	c.providerFlag(root)
	root.AddCommand(
		c.askCommand(), c.sessionsCommand(), c.threadsCommand(), c.turnsCommand(), c.approvalsCommand(), c.jobsCommand(),
		c.toolsCommand(), c.modelsCommand(), c.configCommand(), c.statusCommand(), c.doctorCommand(),
		c.serveCommand(), c.tokensCommand(), c.memoryCommand(), c.routinesCommand(), c.usageCommand(), c.logsCommand(), c.initCommand(),
		c.versionCommand(), console.CompletionCommand(),
	)
	root.SetHelpCommand(console.HelpCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if misspelt := console.NoCommand(cmd, cmd.Flags().Args()); misspelt != nil && cmd.HasSubCommands() {
			return misspelt
		}
		return err
	})
	console.ForAll(root, func(cmd *cobra.Command) {
		cmd.DisableFlagsInUseLine = true
		cmd.SuggestionsMinimumDistance = 2
	})
	return root
}

// routinesCommand returns the commands for routines.
func (c *commands) routinesCommand() *cobra.Command {
	return routines.Command(routines.Program{
		Printer: c.p, Stdin: c.Stdin, Environ: c.Environ,
		Open: func(ctx context.Context, use func(routines.Connection) error) error {
			return c.open(ctx, func(cfg *config.Config, b *Backend) error {
				return use(routines.Connection{API: b.API, Served: b.Served, Zone: cfg.Zone()})
			})
		},
	})
}

// configInput returns the sources of the configuration.
func (c *commands) configInput() config.Input {
	return config.Input{Home: c.home, Environ: c.Environ, Flags: c.flags, Named: c.named}
}

// config loads the configuration.
func (c *commands) config() (*config.Config, error) {
	cfg, err := config.Load(c.configInput())
	if err != nil {
		return nil, err
	}
	if cfg.NoColor {
		c.p.Color = false
	}
	c.p.Zone = cfg.Zone()
	return cfg, nil
}

// asking loads the configuration for a command that calls a model or names the
// model in use. Without a chosen model and a key, a local model is looked for.
func (c *commands) asking(ctx context.Context, chosen string) (*config.Config, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if unchosen, _ := cfg.Unchosen(); !unchosen || chosen != "" {
		return cfg, nil
	}
	in := c.configInput()
	if in.Local = c.Local(ctx, cfg); in.Local == "" {
		return cfg, nil
	}
	return config.Load(in)
}

// chat talks until the input ends.
func (c *commands) chat(ctx context.Context) error {
	return c.resume(ctx, func(cfg *config.Config, b *Backend) error {
		return c.person().Chat(ctx, b.Connection, cfg)
	})
}

// resume opens the home for a long-running command: the turns that an earlier
// process left continue, in every session. A short-lived command continues only
// the turns of its own session.
func (c *commands) resume(ctx context.Context, use func(*config.Config, *Backend) error) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		b.Resume(ctx)
		return use(cfg, b)
	})
}

// open loads the configuration, opens the home, calls use, and closes it
// again.
func (c *commands) open(ctx context.Context, use func(*config.Config, *Backend) error) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	return c.openWith(ctx, cfg, func(b *Backend) error { return use(cfg, b) })
}

// inHome returns the body of a command that needs the home and not its
// configuration.
func (c *commands) inHome(use func(context.Context, *Backend, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error { return use(cmd.Context(), b, args) })
	}
}

// openWith is open for a command that has loaded the configuration itself.
func (c *commands) openWith(ctx context.Context, cfg *config.Config, use func(*Backend) error) (err error) {
	b, err := c.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		if closed := b.Close(); err == nil && closed != nil {
			err = fmt.Errorf("close the home: %w", closed)
		}
	}()
	return use(b)
}
