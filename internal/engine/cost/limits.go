package cost

import (
	"time"

	"chela"
)

// Limits are the spending limits. Zero means no limit.
type Limits struct {
	Day     chela.MicroUSD // of the home, in the owner's time zone
	Session chela.MicroUSD
	Turn    chela.MicroUSD
	Job     chela.MicroUSD
	Routine chela.MicroUSD // per day
	Actions int            // model calls of the home per clock hour
}

// most returns the amount of a limit; 0 for none.
func (l Limits) most(limit chela.Limit) int64 {
	switch limit {
	case chela.LimitActions:
		return int64(l.Actions)
	case chela.LimitDay:
		return int64(l.Day)
	case chela.LimitSession:
		return int64(l.Session)
	case chela.LimitTurn:
		return int64(l.Turn)
	case chela.LimitJob:
		return int64(l.Job)
	case chela.LimitRoutine:
		return int64(l.Routine)
	default:
		return 0
	}
}

// budgets returns the budgets of a call, in locking order; if its model is free, the
// one of the number of calls only.
func (l *Ledger) budgets(p chela.Payer, now time.Time, free bool) []chela.Budget {
	var found []chela.Budget
	for _, limit := range chela.LimitsOfCost() {
		b := chela.Budget{Limit: limit, Key: p.Key(limit), Most: l.cfg.Limits.most(limit)}
		if b.Most <= 0 || b.Key == "" && !limit.IsOfHome() || free && isOfMoney(b) {
			continue
		}
		switch limit {
		case chela.LimitActions:
			b.Since, b.Resets = hourOf(now, l.cfg.Zone)
		case chela.LimitDay, chela.LimitRoutine:
			b.Since, b.Resets = dayOf(now, l.cfg.Zone)
		}
		found = append(found, b)
	}
	return found
}

// dayOf returns the begin and the end of the day of t.
func dayOf(t time.Time, zone *time.Location) (began, ends time.Time) {
	y, m, d := t.In(zone).Date()
	return beginOf(y, m, d, zone), beginOf(y, m, d+1, zone)
}

// beginOf returns the begin of a day: one o'clock if daylight saving time skips
// midnight.
func beginOf(y int, m time.Month, d int, zone *time.Location) time.Time {
	midnight := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if midnight.Hour() != 0 {
		return time.Date(y, m, d, 1, 0, 0, 0, zone)
	}
	return midnight
}

// hourOf returns the begin and the end of the clock hour of t.
func hourOf(t time.Time, zone *time.Location) (began, ends time.Time) {
	t = t.In(zone)
	into := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	began = t.Add(-into)
	return began, began.Add(time.Hour)
}
