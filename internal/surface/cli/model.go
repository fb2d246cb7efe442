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
	"chela/internal/surface/terminal"
)

// modelsCommand returns the commands on models.
func (c *commands) modelsCommand() *cobra.Command {
	return terminal.Group("models", "List models, set their prices, and test them",
		terminal.Command("list", "List the models that are known, and where that is from", c.modelsList),
		listing(c, api.ModelsPrices, prices), c.modelSetCommand(),
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

func (c *commands) modelsList(ctx context.Context, _ api.None) error {
	return c.openFor(ctx, "", func(b *Backend) error {
		all, err := api.AllModels(ctx, b)
		if err != nil {
			return err
		}
		for _, a := range all.Away {
			c.Note("the models of " + a.Provider + " are not known: " + a.Message)
		}
		return models.list(c, all.Items)
	})
}

// unknown stands for a value that is not known.
const unknown = "not known"

var models = table[chela.Model]{
	head: "MODEL\tWINDOW\tMAX OUTPUT\tINPUT\tOUTPUT\tCACHE READ\tABILITIES\tSOURCE",
	none: "no model is set up; chela init sets one up",
	row: func(m chela.Model) []any {
		price := []any{unknown, unknown, unknown}
		if m.Price != nil {
			price = []any{m.Price.Input, m.Price.Output, m.Price.CacheRead}
		}
		abilities := strings.Trim(fmt.Sprint(m.Abilities), "[]")
		return slices.Concat(
			[]any{m.Provider + "/" + m.Name, cmp.Or(count(m.Window), unknown), cmp.Or(count(m.MaxOutput), unknown)}, price,
			[]any{cmp.Or(abilities, unknown), modelSources(m)},
		)
	},
}

// prices are shown in dollars per million tokens.
var prices = table[chela.Model]{
	head: "MODEL\tINPUT\tOUTPUT\tCACHE READ\tCACHE WRITE\tLONG PROMPTS\tSOURCE",
	none: "no such model has a known price; chela models set PROVIDER/MODEL --input DOLLARS --output DOLLARS sets one",
	row: func(m chela.Model) []any {
		p, long := m.Price, ""
		if p.LongFrom > 0 {
			long = fmt.Sprintf("from %d tokens %s, %s", p.LongFrom, p.Long.Input, p.Long.Output)
		}
		return []any{m.Provider + "/" + m.Name, p.Input, p.Output, p.CacheRead, p.CacheWrite, long, m.Sources["price"]}
	},
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
		if by[source] == nil {
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
		Use: "set PROVIDER/MODEL", Short: "Set a model's properties and prices in config.toml", Args: terminal.Between(1, 1),
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
			return invalid("nothing to set", "give --window, --max-output, --input, --output, --cache-read or --cache-write")
		}
		return c.configEdit(cmd.Context(), func(home config.Home) error { return config.SetAll(home, changes) })
	}
	return cmd
}

// checkWords are the results of a check.
var checkWords = map[api.CheckState]string{
	api.CheckPassed: "yes", api.CheckFailed: "NO", api.CheckUntried: "-",
}

func (c *commands) modelTest(ctx context.Context, q api.ModelTest) error {
	return c.openFor(ctx, q.Model, func(b *Backend) error {
		within, release := c.Interruptible(ctx)
		defer release()
		page, err := api.Call(within, b, api.ModelsTest, q)
		if err != nil {
			return err
		}
		if err := trials.list(c, page.Items); err != nil {
			return err
		}
		return c.judgeTrials(page.Items)
	})
}

// trials shows the checks of each model.
var trials = table[api.Trial]{
	head: "MODEL\tREACHABLE\tKEY\tSTREAMS\tCALLS TOOLS\tPRICE KNOWN\tTIME",
	row: func(t api.Trial) []any {
		row := []any{t.Model}
		for _, check := range []api.CheckName{api.CheckReachable, api.CheckKey, api.CheckStreams, api.CheckTools, api.CheckPrice} {
			row = append(row, trialCell(t, check))
		}
		return append(row, fmt.Sprintf("%d ms", t.MS))
	},
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
		if !c.JSON {
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
		c.Finding(false, subject, text, check.Cure)
	}
}
