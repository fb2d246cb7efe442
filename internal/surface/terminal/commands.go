package terminal

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"chela"
)

// WrongUse classifies errors of the flag and argument parser.
func WrongUse(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[*chela.Error](err); ok {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return chela.E(chela.Invalid, first).WithHint("see " + cmd.CommandPath() + " --help")
}

// HelpCommand explains a command. Unlike the library's help command it fails
// for an unknown one.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return chela.E(chela.Invalid, "no command "+OneLine(strings.Join(args, " "), 60)).WithHint("see chela help")
			}
			return found.Help()
		},
	}
}

// Group returns a command that only has subcommands.
func Group(use, short string, of ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return chela.E(chela.Invalid, cmd.CommandPath()+" needs a command").
				WithHint("see " + cmd.CommandPath() + " --help")
		},
	}
	g.AddCommand(of...)
	return g
}

// NoCommand accepts no arguments: an argument of a group must be a subcommand.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return chela.E(chela.Invalid, "no command "+cmd.CommandPath()+" "+OneLine(args[0], 60)).WithHint(hint)
}

// ForAll calls change for a command and all its subcommands.
func ForAll(cmd *cobra.Command, change func(*cobra.Command)) {
	change(cmd)
	for _, below := range cmd.Commands() {
		ForAll(below, change)
	}
}
