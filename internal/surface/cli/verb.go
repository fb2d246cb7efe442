package cli

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// verb returns the command of an operation. Its arguments, flags and help are those of
// the operation; show writes the answer for people, and may be nil.
func verb[In, Out any](c *commands, o api.Operation[In, Out], show func(Out) error) *cobra.Command {
	return derived(c, o, func(ctx context.Context, b *Backend, in In) error {
		b.Leave()
		out, err := api.Call(ctx, b.API, o, in)
		switch {
		case err != nil:
			return err
		case c.p.JSON:
			if _, none := any(out).(api.None); none {
				return nil
			}
			return c.p.Document(out)
		case show == nil:
			return nil
		}
		return show(out)
	})
}

// A table is how the rows of a list are shown to people. The last columns may be
// left out of head and row alike.
type table[T any] struct {
	head []string
	row  func(T) []string
	none string // the note about an empty list; empty shows the head alone
}

// listing returns the command of an operation that lists: it shows all pages.
func listing[In, T any](c *commands, o api.Operation[In, api.Page[T]], shown table[T]) *cobra.Command {
	return derived(c, o, func(ctx context.Context, b *Backend, in In) error {
		all, err := api.All(ctx, b.API, o, in)
		if err != nil {
			return err
		}
		if shown.none != "" && c.p.None(len(all), shown.none) {
			return nil
		}
		return console.List(c.p, all, shown.head, shown.row)
	})
}

// derived returns a command with the name, the arguments and the help of an operation,
// which runs in an open home.
func derived[In, Out any](c *commands, o api.Operation[In, Out], run func(ctx context.Context, b *Backend, in In) error) *cobra.Command {
	return filled(c, o, func(ctx context.Context, in In) error {
		return c.open(ctx, func(_ *config.Config, b *Backend) error { return run(ctx, b, in) })
	})
}

// filled is derived for a command that opens the home itself.
func filled[In, Out any](c *commands, o api.Operation[In, Out], run func(ctx context.Context, in In) error) *cobra.Command {
	var in In
	noun, name, _ := strings.Cut(o.Name, ".")
	w := words{stdin: c.Stdin}
	cmd := &cobra.Command{Use: name, Short: o.Summary}
	for _, a := range o.Arguments(&in) {
		if a.Positional {
			w.positional = append(w.positional, a)
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
		err := w.fill(args)
		if err == nil {
			err = o.Request(in).Check()
		}
		if err == nil {
			err = run(cmd.Context(), in)
		}
		return console.NotThere(err, cmp.Or(listHints[noun], "see chela "+noun+" list"))
	}
	return cmd
}

// listHints name the command that lists what exists, where it is not the list of the
// noun.
var listHints = map[string]string{
	"approvals": "see chela approvals list --all", "grants": "see chela approvals grants", "documents": "see chela memory tree",
	"turns": "chela threads show ID --json names the turns of a thread",
}

// named gives a command another name than its operation has.
func named(name string, cmd *cobra.Command) *cobra.Command {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + arguments)
	return cmd
}

// words are the positional arguments of a command.
type words struct {
	positional []api.Argument
	stdin      io.Reader
}

// check accepts as many words as there are arguments.
func (w words) check(cmd *cobra.Command, args []string) error {
	least, rest := 0, false
	for _, a := range w.positional {
		if rest = a.Rest; !a.Optional && !rest {
			least++
		}
	}
	if rest {
		return console.AtLeast(least)(cmd, args)
	}
	return console.Between(least, len(w.positional))(cmd, args)
}

// fill sets the arguments.
func (w words) fill(args []string) error {
	for i, a := range w.positional {
		given := strings.Join(args[i:min(len(args), i+1)], "")
		if a.Rest {
			var err error
			if given, err = textOf(args[i:], w.stdin); err != nil {
				return err
			}
		} else if i >= len(args) {
			return nil
		}
		if err := a.Set(given); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the text of words, or else of standard input.
func textOf(words []string, stdin io.Reader) (string, error) {
	text := strings.Join(words, " ")
	if text == "" && terminal.IsPiped(stdin) {
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
