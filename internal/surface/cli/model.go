package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/cli/manners"
)

// ModelAPI is the interface that the commands need of an open home.
type ModelAPI struct {
	// Models returns the known models with their properties, and the providers
	// that did not list theirs.
	Models func(ctx context.Context) (api.Models, error)

	// Try tests provider/model; without a name a model of every configured
	// provider.
	Try func(ctx context.Context, model string) ([]api.Trial, error)
}

// A modelProgram holds the dependencies of the commands. All fields are required.
type modelProgram struct {
	Printer *manners.Printer

	// Interruptible returns a context that Ctrl-C cancels; its cancel function
	// stops watching for it.
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)

	// Open opens the home and its models for use. Named is the provider/model
	// given to the command; empty for none.
	Open func(ctx context.Context, named string, use func(ModelAPI) error) error

	// Set writes settings into config.toml, all or none.
	Set func(ctx context.Context, changes []config.Change) error
}

// newModelCommand returns the commands.
func newModelCommand(p modelProgram) *cobra.Command {
	return manners.Group("models", "List models, set their prices, and test them",
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

func (p modelProgram) list(ctx context.Context) error {
	return p.Open(ctx, "", func(h ModelAPI) error {
		all, err := h.Models(ctx)
		if err != nil {
			return err
		}
		for _, a := range all.Away {
			p.Printer.Note("the models of " + a.Provider + " are not known: " + a.Message)
		}
		head := []string{"MODEL", "WINDOW", "MAX OUTPUT", "INPUT", "OUTPUT", "CACHE READ", "ABILITIES", "SOURCE"}
		return manners.List(p.Printer, all.Items, head, func(m chela.Model) []string {
			row := []string{m.Provider + "/" + m.Name, knownNumber(m.Window), knownNumber(m.MaxOutput), "not known", "not known", "not known"}
			if m.Price != nil {
				row = append(row[:3], m.Price.Input.String(), m.Price.Output.String(), m.Price.CacheRead.String())
			}
			abilities := make([]string, len(m.Abilities))
			for i, a := range m.Abilities {
				abilities[i] = string(a)
			}
			return append(row, cmp.Or(strings.Join(abilities, " "), "not known"), modelSources(m))
		})
	})
}

// knownNumber formats a number of tokens, if known.
func knownNumber(n int) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprint(n)
}

// modelSources lists the sources of a model's values, without URLs.
func modelSources(m chela.Model) string {
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

// flags are the flags of set: the key in [models."provider/name"] and the help
// text.
var flags = []struct{ name, use string }{
	{"window", "tokens of prompt and answer"},
	{"max-output", "tokens of an answer"},
	{"input", "dollars for a million tokens of input"},
	{"output", "dollars for a million tokens of output"},
	{"cache-read", "dollars for a million tokens read from the prompt cache"},
	{"cache-write", "dollars for a million tokens written to the prompt cache"},
}

func (p modelProgram) setCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set PROVIDER/MODEL", Short: "Set a model's properties and prices in config.toml", Args: manners.Exactly(1),
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

// columns are the checks as named in a table head.
var columns = []struct {
	check api.CheckName
	head  string
}{
	{api.CheckReachable, "REACHABLE"},
	{api.CheckKey, "KEY"},
	{api.CheckStreams, "STREAMS"},
	{api.CheckTools, "CALLS TOOLS"},
	{api.CheckPrice, "PRICE KNOWN"},
}

// words are the results of a check.
var words = map[api.CheckState]string{
	api.CheckPassed: "yes", api.CheckFailed: "NO", api.CheckUntried: "-",
}

func (p modelProgram) test(ctx context.Context, model string) error {
	return p.Open(ctx, model, func(h ModelAPI) error {
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
		err = manners.List(p.Printer, trials, append(head, "TIME"), func(t api.Trial) []string {
			row := []string{t.Model}
			for _, c := range columns {
				row = append(row, trialCell(t, c.check))
			}
			return append(row, fmt.Sprintf("%d ms", t.MS))
		})
		if err != nil {
			return err
		}
		return p.judge(trials)
	})
}

// trialCell is the result of the checks of a name, if there are several the worst.
func trialCell(t api.Trial, name api.CheckName) string {
	var all []string
	for _, c := range t.Checks {
		if c.Name == name {
			all = append(all, words[c.State])
		}
	}
	return cmp.Or(strings.Join(all, " "), words[api.CheckUntried])
}

// judge lists failed and skipped checks with their hints; a failure is an
// error.
func (p modelProgram) judge(trials []api.Trial) error {
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
		return chela.E(chela.Unavailable, fmt.Sprintf("%d of %d models failed", failed, len(trials))).WithHint("see the hint below each")
	case stopped > 0:
		return chela.E(chela.Exhausted, fmt.Sprintf("%d of %d models were not tried", stopped, len(trials))).WithHint("see the hint below each")
	default:
		return nil
	}
}

// findings prints the noteworthy checks of a trial.
func (p modelProgram) findings(t api.Trial) {
	for _, c := range t.Checks {
		subject, text := t.Model+" "+string(c.Name), c.Text
		switch {
		case c.State == api.CheckUntried && c.Text != "":
			text = "not tried: " + c.Text
		case c.State != api.CheckFailed:
			continue
		}
		if c.Nth > 0 {
			subject += fmt.Sprintf(" %d", c.Nth)
		}
		p.Printer.Finding(false, subject, text, c.Cure)
	}
}
