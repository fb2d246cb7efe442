package cost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
)

// named are the periods of the limits in messages.
var named = map[chela.Limit]string{
	chela.LimitDay:     "per day",
	chela.LimitSession: "per session",
	chela.LimitTurn:    "per turn",
	chela.LimitJob:     "per job",
	chela.LimitRoutine: "per routine and day",
}

// refusal returns the Exhausted error of a call that exceeds a budget: the
// limit, its use, its reset, and how to raise it enough for the call. Need is
// the amount the call requires.
func refusal(b chela.Budget, need int64, zone *time.Location) *chela.Error {
	enough := max(2*b.Most, b.Spent+b.Reserved+need)
	msg, raised := "", fmt.Sprint(enough)
	if b.Limit == chela.LimitActions {
		msg = fmt.Sprintf("the limit of %d model calls per hour is reached", b.Most)
	} else {
		cents := (enough + cent - 1) / cent * cent
		raised = strings.TrimPrefix(chela.MicroUSD(cents).String(), "$")
		msg = fmt.Sprintf("the limit of %s %s ", chela.MicroUSD(b.Most), named[b.Limit])
		spent := fmt.Sprintf("%s is spent", chela.MicroUSD(b.Spent))
		if b.Reserved > 0 {
			spent += fmt.Sprintf(", %s reserved for calls in flight", chela.MicroUSD(b.Reserved))
		}
		if b.Left() == 0 {
			msg += "is reached: " + spent
		} else {
			msg += fmt.Sprintf("is too low for the next call, which may cost %s: %s", chela.MicroUSD(need), spent)
		}
	}
	switch {
	case !b.Resets.IsZero():
		msg += "; it resets at " + moment(b.Resets, zone)
	case b.Limit == chela.LimitSession:
		msg += "; it never resets, but each session has a limit of its own"
	}
	return &chela.Error{
		Kind: chela.Exhausted, Limit: b.Limit, Msg: msg,
		Hint: fmt.Sprintf("raise it with chela config set limits.%s %s, which takes effect at the next start", b.Limit, raised),
	}
}

// unpriced returns the refusal of a call whose price is not known, while a limit of
// money applies to it.
func unpriced(model string, b chela.Budget) *chela.Error {
	return &chela.Error{
		Kind: chela.Exhausted, Limit: b.Limit,
		Msg:  fmt.Sprintf("the price of %s is not known, and there is a limit of %s %s", model, chela.MicroUSD(b.Most), named[b.Limit]),
		Hint: fmt.Sprintf("set its price in dollars per million tokens with chela models set %s --input DOLLARS --output DOLLARS", model),
	}
}

const cent = int64(chela.USD / 100)

// later wraps an error that prevented a call as chela.ErrLater if the store
// failed. Refusals by a limit, conflicts with another run of the turn, and
// errors after the end of ctx are returned unchanged.
func later(ctx context.Context, err error) error {
	if ctx.Err() != nil || limitOf(err) != "" || chela.KindOf(err) == chela.Conflict {
		return err
	}
	return fmt.Errorf("%w: %w", chela.ErrLater, err)
}

// warning returns the notice sent once when warnAt percent of a limit are
// spent.
func warning(b chela.Budget, zone *time.Location) string {
	text := fmt.Sprintf("%s of the limit of %s %s is spent", chela.MicroUSD(b.Spent), chela.MicroUSD(b.Most), named[b.Limit])
	if b.Limit == chela.LimitActions {
		text = fmt.Sprintf("%d of the limit of %d model calls per hour are used", b.Spent, b.Most)
	}
	if !b.Resets.IsZero() {
		text += "; the limit resets at " + moment(b.Resets, zone)
	}
	return text
}

// moment formats a time in the given zone.
func moment(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04 MST")
}
