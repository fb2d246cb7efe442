// Package models holds the commands on models.
package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

// A Home is what the commands ask of an open home.
type Home struct {
	// Models returns those that are known, with what is known of them, and who did
	// not tell theirs.
	Models func(ctx context.Context) (api.Models, error)

	// Try tries provider/model out; without a name a model of every provider that
	// is set up.
	Try func(ctx context.Context, model string) ([]chela.Trial, error)
}

// A Program is what the commands run in. All fields are required.
type Program struct {
	Printer *manners.Printer

	// Interruptible returns a context that ends when the person presses Ctrl-C;
	// its cancel function ends that.
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)

	// Open opens the home and its models for use. Named is the provider/model that
	// the command was given; empty for none.
	Open func(ctx context.Context, named string, use func(Home) error) error

	// Set writes settings into config.toml, all or none.
	Set func(ctx context.Context, changes []config.Change) error
}

// Command returns the commands.
func Command(p Program) *cobra.Command {
	return manners.Group("models", "Look at models, say what they cost, and try them",
		&cobra.Command{
			Use: "list", Short: "List the models that are known, and where that is from", Args: manners.Exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return p.list(cmd.Context()) },
		},
		p.setCommand(),
		&cobra.Command{
			Use: "test [PROVIDER/MODEL]", Short: "Try a model, or those of every provider that is set up", Args: manners.Between(0, 1),
			RunE: func(cmd *cobra.Command, args []string) error { return p.test(cmd.Context(), append(args, "")[0]) },
		},
	)
}

func (p Program) list(ctx context.Context) error {
	return p.Open(ctx, "", func(h Home) error {
		all, err := h.Models(ctx)
		if err != nil {
			return err
		}
		for _, a := range all.Away {
			p.Printer.Note("the models of " + a.Provider + " are not known: " + a.Message)
		}
		head := []string{"MODEL", "WINDOW", "MAX OUTPUT", "INPUT", "OUTPUT", "CACHE READ", "ABILITIES", "SOURCE"}
		return manners.List(p.Printer, all.Items, head, func(m chela.Model) []string {
			row := []string{m.Provider + "/" + m.Name, known(m.Window), known(m.MaxOutput), "not known", "not known", "not known"}
			if m.Price != nil {
				row = append(row[:3], m.Price.Input.String(), m.Price.Output.String(), m.Price.CacheRead.String())
			}
			abilities := make([]string, len(m.Abilities))
			for i, a := range m.Abilities {
				abilities[i] = string(a)
			}
			return append(row, cmp.Or(strings.Join(abilities, " "), "not known"), sources(m))
		})
	})
}

// known writes a number of tokens, if there is one.
func known(n int) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprint(n)
}

// sources says where the values of a model are from, without the addresses of
// pages.
func sources(m chela.Model) string {
	var all []string
	by := map[string][]string{}
	for _, field := range []string{"window", "max_output", "price", "abilities"} {
		source, _, _ := strings.Cut(m.Sources[field], " http")
		source, _, _ = strings.Cut(source, ", see")
		if source == "" {
			continue
		}
		if !slices.Contains(all, source) {
			all = append(all, source)
		}
		by[source] = append(by[source], strings.ReplaceAll(field, "_", " "))
	}
	if len(all) == 1 {
		return all[0]
	}
	parts := make([]string, len(all))
	for i, source := range all {
		parts[i] = strings.Join(by[source], " and ") + ": " + source
	}
	return strings.Join(parts, "; ")
}

// flags are those of set: the key in [models."provider/name"] and what it is.
var flags = []struct{ name, use string }{
	{"window", "tokens of prompt and answer"},
	{"max-output", "tokens of an answer"},
	{"input", "dollars for a million tokens of input"},
	{"output", "dollars for a million tokens of output"},
	{"cache-read", "dollars for a million tokens read from the prompt cache"},
	{"cache-write", "dollars for a million tokens written to the prompt cache"},
}

func (p Program) setCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set PROVIDER/MODEL", Short: "Say in config.toml what a model can and what it costs", Args: manners.Exactly(1),
	}
	values := make([]string, len(flags))
	for i, f := range flags {
		cmd.Flags().StringVar(&values[i], f.name, "", f.use)
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var changes []config.Change
		for i, f := range flags {
			if cmd.Flags().Changed(f.name) {
				changes = append(changes, config.Change{
					Key: fmt.Sprintf("models.%q.%s", args[0], strings.ReplaceAll(f.name, "-", "_")), Value: values[i],
				})
			}
		}
		if len(changes) == 0 {
			return chela.E(chela.Invalid, "nothing to set").WithHint("give --window, --max-output, --input, --output, --cache-read or --cache-write")
		}
		return p.Set(cmd.Context(), changes)
	}
	return cmd
}

// columns are the checks as they head a table.
var columns = []struct {
	check chela.CheckName
	head  string
}{
	{chela.CheckReachable, "REACHABLE"},
	{chela.CheckKey, "KEY"},
	{chela.CheckStreams, "STREAMS"},
	{chela.CheckTools, "CALLS TOOLS"},
	{chela.CheckPrice, "PRICE KNOWN"},
}

// words say what came of a check.
var words = map[chela.CheckState]string{
	chela.CheckPassed: "yes", chela.CheckFailed: "NO", chela.CheckUntried: "-",
}

func (p Program) test(ctx context.Context, model string) error {
	return p.Open(ctx, model, func(h Home) error {
		within, release := p.Interruptible(ctx)
		defer release()
		trials, err := h.Try(within, model)
		if err != nil {
			return err
		}
		head := []string{"MODEL"}
		for _, c := range columns {
			head = append(head, c.head)
		}
		err = manners.List(p.Printer, trials, append(head, "TIME"), func(t chela.Trial) []string {
			row := []string{t.Model}
			for _, c := range columns {
				row = append(row, cell(t, c.check))
			}
			return append(row, fmt.Sprintf("%d ms", t.MS))
		})
		if err != nil {
			return err
		}
		return p.judge(trials)
	})
}

// cell says what came of the checks of a name, of which there may be several.
func cell(t chela.Trial, name chela.CheckName) string {
	var all []string
	for _, c := range t.Checks {
		if c.Name == name {
			all = append(all, words[c.State])
		}
	}
	return cmp.Or(strings.Join(all, " "), words[chela.CheckUntried])
}

// judge tells what failed, and what was not tried, with what cures it; then that
// is an error.
func (p Program) judge(trials []chela.Trial) error {
	failed, stopped := 0, 0
	for _, t := range trials {
		switch {
		case !t.Passed():
			failed++
		case t.Stopped():
			stopped++
		}
		if !p.Printer.JSON {
			p.findings(t)
		}
	}
	switch {
	case failed > 0:
		return chela.E(chela.Unavailable, fmt.Sprintf("%d of %d models failed", failed, len(trials))).WithHint("do what is written below each")
	case stopped > 0:
		return chela.E(chela.Exhausted, fmt.Sprintf("%d of %d models were not tried", stopped, len(trials))).WithHint("do what is written below each")
	default:
		return nil
	}
}

// findings prints the checks of a trial that tell something.
func (p Program) findings(t chela.Trial) {
	for _, c := range t.Checks {
		subject, text := t.Model+" "+string(c.Name), c.Text
		switch {
		case c.State == chela.CheckUntried && c.Text != "":
			text = "not tried: " + c.Text
		case c.State != chela.CheckFailed:
			continue
		}
		if c.Nth > 0 {
			subject += fmt.Sprintf(" %d", c.Nth)
		}
		p.Printer.Finding(false, subject, text, c.Cure)
	}
}
