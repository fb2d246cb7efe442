package terminal

import (
	"cmp"
	"slices"
	"strings"

	"chela"
)

// barWidth is the width of the longest bar of a plot, in cells.
const barWidth = 40

// maxBars is the number of bars of a plot.
const maxBars = 40

// Plot draws the spending: a bar for each day, oldest first, or for each group
// of another kind. Without costs, or with a single group, it draws nothing.
func (p *Printer) Plot(sums []chela.UsageSum) {
	bars := usageBars(sums)
	most := chela.MicroUSD(0)
	for _, b := range bars {
		most = max(most, b.Cost)
	}
	if most == 0 || len(bars) < 2 {
		return
	}
	p.Line("")
	var pairs []any
	for _, b := range bars {
		length := (b.Cost*barWidth + most - 1) / most
		pairs = append(pairs, cmp.Or(b.Day, b.Name(), "none"), strings.TrimLeft(strings.Repeat("█", int(length))+" "+b.Cost.String(), " "))
	}
	p.Fields(pairs...)
}

// usageBars returns the bars of sums, at most maxBars: the newest days, or the
// largest costs.
func usageBars(sums []chela.UsageSum) (bars []chela.UsageSum) {
	for _, s := range sums {
		if n := len(bars); n > 0 && s.Day != "" && bars[n-1].Day == s.Day {
			bars[n-1].Cost += s.Cost
			continue
		}
		bars = append(bars, s)
	}
	bars = bars[:min(len(bars), maxBars)]
	if len(sums) > 0 && sums[0].Day != "" {
		slices.Reverse(bars)
	}
	return bars
}
