package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

func (c *commands) usageCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "usage", Short: "Sum up what models were asked and answered", Args: manners.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := sinceDay(c.Now(), since)
			if err != nil {
				return err
			}
			return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error {
				return c.usage(cmd.Context(), b, from)
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "from when: a day such as 2026-03-01, or a number of days ago such as 30d (UTC)")
	return cmd
}

// maxDaysAgo is how far back a number of days may reach.
const maxDaysAgo = 36_500

// sinceDay returns the beginning of the day, in UTC, that text names.
func sinceDay(now time.Time, text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	number, ok := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	if !ok || err != nil || days < 0 || days > maxDaysAgo {
		return time.Time{}, chela.E(chela.Invalid, fmt.Sprintf("--since cannot be %q", terminal.OneLine(text, 40))).
			WithHint("write a day such as 2026-03-01, or a number of days such as 30d")
	}
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -days), nil
}

func (c *commands) usage(ctx context.Context, b *Backend, since time.Time) error {
	sums, err := b.Usage(ctx, since)
	if err != nil {
		return err
	}
	shown := sums
	if !c.p.JSON && len(sums) > 1 {
		shown = append(sums[:len(sums):len(sums)], total(sums))
	}
	return manners.List(c.p, shown, []string{"DAY", "MODEL", "CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT"}, usageRow)
}

func usageRow(u chela.UsageSum) []string {
	row := []string{u.Day, u.Model, strconv.Itoa(u.Calls)}
	for _, n := range []int64{u.Tokens.Input, u.Tokens.CacheRead, u.Tokens.CacheWrite, u.Tokens.Output} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	return row
}

// total adds up sums of every day and model.
func total(sums []chela.UsageSum) chela.UsageSum {
	all := chela.UsageSum{Day: "total"}
	for _, u := range sums {
		all.Calls += u.Calls
		all.Tokens.Input += u.Tokens.Input
		all.Tokens.CacheRead += u.Tokens.CacheRead
		all.Tokens.CacheWrite += u.Tokens.CacheWrite
		all.Tokens.Output += u.Tokens.Output
	}
	return all
}
