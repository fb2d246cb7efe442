package cost

import (
	"time"

	"chela"
)

// Limits are the most that may be spent. Zero means no limit.
type Limits struct {
	Day     chela.MicroUSD // of the home, where its owner lives
	Session chela.MicroUSD
	Turn    chela.MicroUSD
	Job     chela.MicroUSD
	Routine chela.MicroUSD // in a day
	Actions int            // model calls of the home in an hour of the clock
}

// apply reports whether a call falls under any limit. Free tells that it costs
// nothing.
func (l *Limits) apply(p *chela.Payer, free bool) bool {
	return l.Actions > 0 || !free && (l.Day > 0 || l.Session > 0 && p.Session != "" || l.Turn > 0 && p.Turn != "" ||
		l.Job > 0 && p.Job != "" || l.Routine > 0 && p.Routine != "")
}

// budgets returns the limits that a call falls under, in the order in which they
// are claimed.
func (l Limits) budgets(p chela.Payer, now time.Time, zone *time.Location) []chela.Budget {
	var found []chela.Budget
	add := func(limit chela.Limit, most int64, key string, since, resets time.Time) {
		if most > 0 {
			found = append(found, chela.Budget{Limit: limit, Key: key, Most: most, Since: since, Resets: resets})
		}
	}
	since, resets := hourOf(now, zone)
	add(chela.LimitActions, int64(l.Actions), "", since, resets)
	since, resets = dayOf(now, zone)
	add(chela.LimitDay, int64(l.Day), "", since, resets)
	never := time.Time{}
	if p.Session != "" {
		add(chela.LimitSession, int64(l.Session), string(p.Session), never, never)
	}
	if p.Turn != "" {
		add(chela.LimitTurn, int64(l.Turn), string(p.Turn), never, never)
	}
	if p.Job != "" {
		add(chela.LimitJob, int64(l.Job), string(p.Job), never, never)
	}
	if p.Routine != "" {
		add(chela.LimitRoutine, int64(l.Routine), string(p.Routine), since, resets)
	}
	return found
}

// dayOf returns when the day began that a moment is in, and when it ends.
func dayOf(t time.Time, zone *time.Location) (began, ends time.Time) {
	y, m, d := t.In(zone).Date()
	return beginOf(y, m, d, zone), beginOf(y, m, d+1, zone)
}

// beginOf returns when a day begins: at one o'clock where the clock is put
// forward at midnight.
func beginOf(y int, m time.Month, d int, zone *time.Location) time.Time {
	midnight := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if midnight.Hour() != 0 {
		return time.Date(y, m, d, 1, 0, 0, 0, zone)
	}
	return midnight
}

// hourOf returns when the hour of the clock began that a moment is in, and when
// it ends.
func hourOf(t time.Time, zone *time.Location) (began, ends time.Time) {
	t = t.In(zone)
	into := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	began = t.Add(-into)
	return began, began.Add(time.Hour)
}

const (
	margin       = 10   // of a prompt, in percent, by which it may be larger than it was counted
	leastOutput  = 1024 // tokens of output for which a call is still made
	anyOutput    = 4096 // tokens of output of a model of which nothing is known
	bytesOfToken = 3    // of text that arrived, at least
	warnAt       = 80   // percent of a limit
)

// A quote is what a model takes.
type quote struct {
	model string // provider/model
	price chela.Price
	known bool // the price is
}

// most returns the most that a call can cost: its whole prompt is read anew, and
// kept in a cache where that is dearer.
func (q quote) most(prompt, output int) chela.MicroUSD {
	in, out := int64(prompt)+int64(prompt)*margin/100, int64(output)
	return max(q.price.Cost(chela.TokenUsage{Input: in, Output: out}), q.price.Cost(chela.TokenUsage{CacheWrite: in, Output: out}))
}

// affordable returns how many tokens of output fit, up to limit.
func (q quote) affordable(prompt, limit int, left chela.MicroUSD) int {
	low, high := -1, limit // low fits, or is none
	for low < high {
		mid := low + (high-low+1)/2
		if q.most(prompt, mid) <= left {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return max(low, 0)
}
