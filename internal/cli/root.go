package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/config"
)

// Main runs one command and returns its exit code. What it opens is closed
// when it returns.
func Main(ctx context.Context, p Program) int {
	c := &commands{Program: p, p: newPrinter(p.Stdout, p.Stderr)}
	root := c.root()
	root.SetArgs(append([]string{}, p.Args...))
	root.SetIn(p.Stdin)
	root.SetOut(c.p.Out)
	root.SetErr(c.p.Err)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !c.begun:
		err = wrongUse(cmd, err)
	case err != nil && ctx.Err() != nil:
		err = errTerminated
	}
	if err == nil && c.p.sink.Err() != nil {
		err = chela.E(chela.Unavailable, "cannot write the output").WithHint("see where it goes").Because(c.p.sink.Err())
	}
	if err != nil {
		fmt.Fprintln(c.p.Err, errorLine(err))
	}
	return ExitCode(err)
}

// wrongUse classifies what the parser of flags and arguments says.
func wrongUse(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[*chela.Error](err); ok {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return chela.E(chela.Invalid, first).WithHint("see " + cmd.CommandPath() + " --help")
}

// exactly accepts n arguments.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

// between accepts least to most arguments.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		takes := "no arguments"
		switch {
		case least < most:
			takes = fmt.Sprintf("%d or %d arguments", least, most)
		case most == 1:
			takes = "1 argument"
		case most > 1:
			takes = fmt.Sprintf("%d arguments", most)
		}
		return chela.E(chela.Invalid, fmt.Sprintf("%s takes %s, not %d", cmd.CommandPath(), takes, len(args))).
			WithHint("write " + cmd.UseLine())
	}
}

// commands is what all commands share.
type commands struct {
	Program
	p     *printer
	home  string
	begun bool // the arguments are right and a command runs
}

// root returns the tree of commands.
func (c *commands) root() *cobra.Command {
	root := &cobra.Command{
		Use:               "chela",
		Short:             "An agent that remembers, asks before it acts, and survives being killed",
		Long:              "Without a command, chela talks with you in the terminal.",
		Args:              noCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error { c.begun = true; return nil },
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.chat(cmd.Context()) },
	}
	root.PersistentFlags().StringVar(&c.home, "home", "", "folder that holds everything (CHELA_HOME, default ~/.chela)")
	root.PersistentFlags().BoolVar(&c.p.json, "json", false, "print one JSON document")
	root.AddCommand(
		c.askCommand(), c.sessionsCommand(), c.threadsCommand(), c.turnsCommand(), c.approvalsCommand(),
		c.toolsCommand(), c.modelsCommand(), c.configCommand(), c.statusCommand(), c.doctorCommand(),
		c.initCommand(), c.versionCommand(), completionCommand(),
	)
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if misspelt := noCommand(cmd, cmd.Flags().Args()); misspelt != nil && cmd.HasSubCommands() {
			return misspelt
		}
		return err
	})
	forAll(root, func(cmd *cobra.Command) {
		cmd.DisableFlagsInUseLine = true
		cmd.SuggestionsMinimumDistance = 2
	})
	return root
}

// helpCommand explains a command, and unlike the one of the library fails for
// one that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return chela.E(chela.Invalid, "no command "+terminal.OneLine(strings.Join(args, " "), 60)).WithHint("see chela help")
			}
			return found.Help()
		},
	}
}

// group returns a command that only holds others.
func group(use, short string, of ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return chela.E(chela.Invalid, cmd.CommandPath()+" needs a command").
				WithHint("see " + cmd.CommandPath() + " --help")
		},
	}
	g.AddCommand(of...)
	return g
}

// noCommand accepts no arguments: what follows a command that holds others
// must be one of them.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return chela.E(chela.Invalid, "no command "+cmd.CommandPath()+" "+terminal.OneLine(args[0], 60)).WithHint(hint)
}

// forAll calls change with a command and all below it.
func forAll(cmd *cobra.Command, change func(*cobra.Command)) {
	change(cmd)
	for _, below := range cmd.Commands() {
		forAll(below, change)
	}
}

// configInput returns what the configuration is made of.
func (c *commands) configInput() config.Input {
	return config.Input{Home: c.home, Environ: c.Environ}
}

// config loads the configuration.
func (c *commands) config() (*config.Config, error) {
	cfg, err := config.Load(c.configInput())
	if err == nil && cfg.NoColor {
		c.p.Color = false
	}
	return cfg, err
}

// resume opens the home for a command that stays: the turns that an earlier
// process left go on, in every session. A command that ends soon lets only
// those of its own session go on.
func (c *commands) resume(ctx context.Context, use func(*config.Config, *Backend) error) error {
	return c.open(ctx, func(cfg *config.Config, b *Backend) error {
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

// inHome returns a command's work that needs the home and not its
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
