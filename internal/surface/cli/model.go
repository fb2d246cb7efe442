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
	"chela/internal/surface/cli/console"
)

// modelsCommand returns the commands on models.
func (c *commands) modelsCommand() *cobra.Command {
	return console.Group("models", "List models, set their prices, and test them",
		&cobra.Command{
			Use: "list", Short: "List the models that are known, and where that is from", Args: console.Exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return c.modelsList(cmd.Context()) },
		},
		listing(c, api.ModelsPrices, c.priceTable()),
		c.modelSetCommand(),
		filled(c, api.ModelsTest, c.modelTest),
	)
}

// openFor opens the home for a command that may ask a model. Named is the
// provider/model given to the command; empty for none.
func (c *commands) openFor(ctx context.Context, named string, use func(*Backend) error) error {
	c.named = named
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	return c.openWith(ctx, cfg, use)
}

func (c *commands) modelsList(ctx context.Context) error {
	return c.openFor(ctx, "", func(b *Backend) error {
		all, err := api.AllModels(ctx, b.API)
		if err != nil {
			return err
		}
		for _, a := range all.Away {
			c.p.Note("the models of " + a.Provider + " are not known: " + a.Message)
		}
		head := []string{"MODEL", "WINDOW", "MAX OUTPUT", "INPUT", "OUTPUT", "CACHE READ", "ABILITIES", "SOURCE"}
		return console.List(c.p, all.Items, head, func(m chela.Model) []string {
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

// priceTable shows prices, in dollars per million tokens.
func (c *commands) priceTable() table[chela.Model] {
	return table[chela.Model]{
		head: []string{"MODEL", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "LONG PROMPTS", "SOURCE"},
		none: "no such model has a known price; chela models set PROVIDER/MODEL --input DOLLARS --output DOLLARS sets one",
		row: func(m chela.Model) []string {
			p, long := m.Price, ""
			if p.LongFrom > 0 {
				long = fmt.Sprintf("from %d tokens %s, %s", p.LongFrom, p.Long.Input, p.Long.Output)
			}
			return []string{
				m.Provider + "/" + m.Name, p.Input.String(), p.Output.String(), p.CacheRead.String(), p.CacheWrite.String(), long,
				m.Sources["price"],
			}
		},
	}
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

func (c *commands) modelSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set PROVIDER/MODEL", Short: "Set a model's properties and prices in config.toml", Args: console.Exactly(1),
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
		return c.configEdit(cmd.Context(), func(home config.Home) error { return config.SetAll(home, changes) })
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

// checkWords are the results of a check.
var checkWords = map[api.CheckState]string{
	api.CheckPassed: "yes", api.CheckFailed: "NO", api.CheckUntried: "-",
}

func (c *commands) modelTest(ctx context.Context, q api.ModelTest) error {
	return c.openFor(ctx, q.Model, func(b *Backend) error {
		within, release := c.Interruptible(ctx)
		defer release()
		page, err := api.Call(within, b.API, api.ModelsTest, q)
		if err != nil {
			return err
		}
		trials := page.Items
		head := []string{"MODEL"}
		for _, column := range columns {
			head = append(head, column.head)
		}
		err = console.List(c.p, trials, append(head, "TIME"), func(t api.Trial) []string {
			row := []string{t.Model}
			for _, column := range columns {
				row = append(row, trialCell(t, column.check))
			}
			return append(row, fmt.Sprintf("%d ms", t.MS))
		})
		if err != nil {
			return err
		}
		return c.judgeTrials(trials)
	})
}

// trialCell is the result of the checks of a name, if there are several the worst.
func trialCell(t api.Trial, name api.CheckName) string {
	var all []string
	for _, c := range t.Checks {
		if c.Name == name {
			all = append(all, checkWords[c.State])
		}
	}
	return cmp.Or(strings.Join(all, " "), checkWords[api.CheckUntried])
}

// judgeTrials lists failed and skipped checks with their hints; a failure is an
// error.
func (c *commands) judgeTrials(trials []api.Trial) error {
	failed, stopped := 0, 0
	for _, t := range trials {
		switch {
		case !t.Passed():
			failed++
		case t.Stopped():
			stopped++
		}
		if !c.p.JSON {
			c.trialFindings(t)
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

// trialFindings prints the noteworthy checks of a trial.
func (c *commands) trialFindings(t api.Trial) {
	for _, check := range t.Checks {
		subject, text := t.Model+" "+string(check.Name), check.Text
		switch {
		case check.State == api.CheckUntried && check.Text != "":
			text = "not tried: " + check.Text
		case check.State != api.CheckFailed:
			continue
		}
		if check.Nth > 0 {
			subject += fmt.Sprintf(" %d", check.Nth)
		}
		c.p.Finding(false, subject, text, check.Cure)
	}
}
