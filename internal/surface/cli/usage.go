package cli

// This part of the package holds the command that sums up the spending on
// models, and shows the rest of the limits.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/cli/console"
)

// usageCommand returns the command that sums up spending.
func (c *commands) usageCommand() *cobra.Command {
	cmd := named("usage", filled(c, api.UsageSums, func(ctx context.Context, q api.UsageQuery) error {
		return c.open(ctx, func(cfg *config.Config, b *Backend) error { return c.usage(ctx, b, q, cfg.Zone()) })
	}))
	cmd.AddCommand(filled(c, api.UsageLimits, func(ctx context.Context, q api.LimitsQuery) error {
		return c.open(ctx, func(cfg *config.Config, b *Backend) error { return c.limits(ctx, b, q, cfg) })
	}))
	return cmd
}

func (c *commands) usage(ctx context.Context, b *Backend, q api.UsageQuery, zone *time.Location) error {
	sums, err := api.All(ctx, b.API, api.UsageSums, q)
	if err != nil {
		return err
	}
	if err := c.usageTable(sums, q.By); err != nil || c.p.JSON {
		return err
	}
	c.remarks(sums)
	c.plot(sums)
	budgets, err := api.All(ctx, b.API, api.UsageLimits, api.LimitsQuery{})
	if err != nil || len(budgets) == 0 {
		return err
	}
	c.p.Line("")
	return c.budgets(budgets, zone)
}

// usageTable prints sums and, for people, their total.
func (c *commands) usageTable(sums []chela.UsageSum, by chela.UsageBy) error {
	shown := sums
	if !c.p.JSON && len(sums) > 1 {
		all := chela.UsageSum{}
		for _, s := range sums {
			all = all.Plus(s)
		}
		shown = append(sums[:len(sums):len(sums)], all)
	}
	head := []string{"CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST"}
	named := []string{strings.ToUpper(string(by))}
	if by == chela.UsageByDayModel {
		named = []string{"DAY", "MODEL"}
	}
	return console.List(c.p, shown, append(named, head...), func(s chela.UsageSum) []string {
		cells := []string{cmp.Or(s.Day, s.Name())}
		if by == chela.UsageByDayModel {
			cells = []string{s.Day, s.Model}
		}
		if len(sums) > 1 && s == shown[len(sums)] {
			cells[0] = "total"
		}
		cells[0] = cmp.Or(cells[0], "none")
		for _, n := range []int64{int64(s.Calls), s.Tokens.Input, s.Tokens.CacheRead, s.Tokens.CacheWrite, s.Tokens.Output} {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		return append(cells, priced(s))
	})
}

// priced formats the cost of a sum, marked if it is uncertain.
func priced(s chela.UsageSum) string {
	if s.Guessed > 0 {
		return "~" + s.Cost.String()
	}
	return s.Cost.String()
}

// remarks explains uncertain costs below a table.
func (c *commands) remarks(sums []chela.UsageSum) {
	all := chela.UsageSum{}
	for _, s := range sums {
		all = all.Plus(s)
	}
	if all.Guessed > 0 {
		c.p.Line(fmt.Sprintf("~ %s of it is guessed: a server did not count, an answer did not end, or the price of a model is not known", all.Guessed))
	}
	if all.Reserved > 0 {
		c.p.Line(fmt.Sprintf("beside that, %s is reserved for calls that are under way", all.Reserved))
	}
}

// barWidth is the width of the longest bar of a plot, in cells.
const barWidth = 40

// maxBars is the number of bars of a plot.
const maxBars = 40

// A usageBar is one line of a plot.
type usageBar struct {
	name string
	cost chela.MicroUSD
}

// plot draws the spending: a bar for each day, oldest first, or for each group
// of another kind. Without costs, or with a single group, it draws nothing.
func (c *commands) plot(sums []chela.UsageSum) {
	bars := usageBars(sums)
	most := chela.MicroUSD(0)
	for _, b := range bars {
		most = max(most, b.cost)
	}
	if most == 0 || len(bars) < 2 {
		return
	}
	c.p.Line("")
	pairs := make([][2]string, 0, len(bars))
	for _, b := range bars {
		length := int((int64(b.cost)*barWidth + int64(most) - 1) / int64(most))
		pairs = append(pairs, [2]string{cmp.Or(b.name, "none"), strings.TrimLeft(strings.Repeat("█", length)+" "+b.cost.String(), " ")})
	}
	c.p.Fields(pairs...)
}

// usageBars returns the bars of sums, at most maxBars: the newest days, or the
// largest costs.
func usageBars(sums []chela.UsageSum) (bars []usageBar) {
	for _, s := range sums {
		name := cmp.Or(s.Day, s.Name())
		if n := len(bars); n > 0 && s.Day != "" && bars[n-1].name == name {
			bars[n-1].cost += s.Cost
			continue
		}
		bars = append(bars, usageBar{name, s.Cost})
	}
	bars = bars[:min(len(bars), maxBars)]
	if len(sums) > 0 && sums[0].Day != "" {
		slices.Reverse(bars)
	}
	return bars
}

// limits shows the rest of the limits of the home, and of a session if given,
// and the limits of each session, turn, job and routine.
func (c *commands) limits(ctx context.Context, b *Backend, q api.LimitsQuery, cfg *config.Config) error {
	budgets, err := api.All(ctx, b.API, api.UsageLimits, q)
	if err != nil {
		return err
	}
	each := limitsOfEach(cfg.Limits)
	switch {
	case c.p.JSON, len(budgets) > 0:
		if err := c.budgets(budgets, cfg.Zone()); err != nil || c.p.JSON {
			return err
		}
	case len(each) == 0:
		c.p.Line("nothing is limited; chela config set limits.usd_per_day 5 limits the day, for one")
	default:
		c.p.Line("nothing is limited for the whole home")
	}
	if len(each) > 0 {
		c.p.Line("")
		c.p.Fields(each...)
	}
	return nil
}

// limitsOfEach are the limits that do not apply to the whole home.
func limitsOfEach(l config.Limits) (each [][2]string) {
	for _, limit := range []struct {
		of   string
		most chela.MicroUSD
		more string
	}{
		{"each session", l.USDPerSession, " at most, for good; --session KEY shows what is left"},
		{"each turn", l.USDPerTurn, " at most"},
		{"each job", l.USDPerJob, " at most"},
		{"each routine", l.USDPerRoutine, " a day at most"},
	} {
		if limit.most > 0 {
			each = append(each, [2]string{limit.of, limit.most.String() + limit.more})
		}
	}
	return each
}

func (c *commands) budgets(budgets []chela.Budget, zone *time.Location) error {
	return console.List(c.p, budgets, []string{"LIMIT", "MOST", "SPENT", "RESERVED", "LEFT", "UNTIL"}, func(b chela.Budget) []string {
		shown := func(n int64) string {
			if b.Limit == chela.LimitActions {
				return strconv.FormatInt(n, 10)
			}
			return chela.MicroUSD(n).String()
		}
		until := "never"
		if !b.Resets.IsZero() {
			until = b.Resets.In(zone).Format("2006-01-02 15:04")
		}
		return []string{string(b.Limit), shown(b.Most), shown(b.Spent), shown(b.Reserved), shown(b.Left()), until}
	})
}
