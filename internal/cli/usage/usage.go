// Package usage holds the command that sums up what models were asked and
// answered.
package usage

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
)

// A Func returns what was spent since a time, the newest day first.
type Func func(ctx context.Context, since time.Time) ([]chela.UsageSum, error)

// A Program is what the command runs in. All fields are required.
type Program struct {
	Printer *manners.Printer
	Now     func() time.Time

	// Open opens the home and its usage for use.
	Open func(ctx context.Context, use func(Func) error) error
}

// Command returns the command.
func Command(p Program) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "usage", Short: "Sum up what models were asked and answered", Args: manners.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := sinceDay(p.Now(), since)
			if err != nil {
				return err
			}
			return p.Open(cmd.Context(), func(usage Func) error {
				sums, err := usage(cmd.Context(), from)
				if err != nil {
					return err
				}
				return show(p.Printer, sums)
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

// show prints sums and, for people, their total.
func show(p *manners.Printer, sums []chela.UsageSum) error {
	shown := sums
	if !p.JSON && len(sums) > 1 {
		shown = append(sums[:len(sums):len(sums)], total(sums))
	}
	return manners.List(p, shown, []string{"DAY", "MODEL", "CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT"}, row)
}

func row(u chela.UsageSum) []string {
	cells := []string{u.Day, u.Model, strconv.Itoa(u.Calls)}
	for _, n := range []int64{u.Tokens.Input, u.Tokens.CacheRead, u.Tokens.CacheWrite, u.Tokens.Output} {
		cells = append(cells, strconv.FormatInt(n, 10))
	}
	return cells
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
