package terminal

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
)

// Command returns a command whose arguments and flags are the tagged fields of its
// input; see [api.Argument].
func Command[In any](name, short string, run func(ctx context.Context, in In) error) *cobra.Command {
	var in In
	var w words
	cmd := &cobra.Command{Use: name, Short: short}
	for _, a := range api.ArgumentsOf(&in) {
		if a.Positional {
			w = append(w, a)
			cmd.Use += " " + a.Usage()
			continue
		}
		cmd.Flags().Var(a, a.Name, a.Help)
		if a.Switch() {
			cmd.Flags().Lookup(a.Name).NoOptDefVal = "true"
		}
	}
	cmd.Args = w.check
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := w.fill(args, cmd.InOrStdin()); err != nil {
			return err
		}
		return run(cmd.Context(), in)
	}
	return cmd
}

// words are the positional arguments of a command.
type words []api.Argument

// check accepts as many words as there are arguments.
func (w words) check(cmd *cobra.Command, args []string) error {
	least, most := 0, len(w)
	for _, a := range w {
		switch {
		case a.Rest:
			most = Many
		case !a.Optional:
			least++
		}
	}
	return Between(least, most)(cmd, args)
}

// fill sets the arguments.
func (w words) fill(args []string, stdin io.Reader) error {
	for i, a := range w {
		given := args[min(len(args), i):]
		switch {
		case a.Rest && !a.Many():
			text, err := textOf(given, stdin)
			if err != nil {
				return err
			}
			given = []string{text}
		case !a.Rest:
			given = given[:min(len(given), 1)]
		}
		for _, word := range given {
			if err := a.Set(word); err != nil {
				return err
			}
		}
	}
	return nil
}

// textOf returns the text of words, or else of standard input.
func textOf(words []string, stdin io.Reader) (string, error) {
	text := strings.Join(words, " ")
	if text == "" && IsPiped(stdin) {
		raw, err := io.ReadAll(io.LimitReader(stdin, chela.MaxMessageBytes+1))
		if err != nil {
			return "", chela.E(chela.Invalid, "cannot read the text").WithHint("write it behind the command").Because(err)
		}
		text = strings.TrimSpace(string(raw))
	}
	if strings.TrimSpace(text) == "" {
		return "", chela.E(chela.Invalid, "there is no text").WithHint("write it behind the command, or pipe it in")
	}
	return text, nil
}

// Many is any number of arguments.
const Many = math.MaxInt

// Between accepts least to most arguments.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		takes := "no arguments"
		switch {
		case most == Many:
			takes = fmt.Sprintf("%d arguments or more", least)
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
