package cost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
)

// named is what people call the limits.
var named = map[chela.Limit]string{
	chela.LimitDay:     "a day",
	chela.LimitSession: "a session",
	chela.LimitTurn:    "a turn",
	chela.LimitJob:     "a job",
	chela.LimitRoutine: "a routine and day",
}

// refusal is the error of a call for which a limit has not enough left: which
// limit, how much of it is spent, when it begins anew, and how to raise it so that
// the call fits. Need is what that takes.
func refusal(b chela.Budget, need int64, zone *time.Location) *chela.Error {
	enough := max(2*b.Most, b.Spent+b.Reserved+need)
	msg, raised := "", fmt.Sprint(enough)
	if b.Limit == chela.LimitActions {
		msg = fmt.Sprintf("the limit of %d model calls an hour is reached", b.Most)
	} else {
		cents := (enough + cent - 1) / cent * cent
		raised = strings.TrimPrefix(chela.MicroUSD(cents).String(), "$")
		msg = fmt.Sprintf("the limit of %s %s ", chela.MicroUSD(b.Most), named[b.Limit])
		spent := fmt.Sprintf("%s is spent", chela.MicroUSD(b.Spent))
		if b.Reserved > 0 {
			spent += fmt.Sprintf(", %s reserved for calls that are under way", chela.MicroUSD(b.Reserved))
		}
		if b.Left() == 0 {
			msg += "is reached: " + spent
		} else {
			msg += fmt.Sprintf("is too low for the next call, which may cost %s: %s", chela.MicroUSD(need), spent)
		}
	}
	switch {
	case !b.Resets.IsZero():
		msg += "; it begins anew at " + moment(b.Resets, zone)
	case b.Limit == chela.LimitSession:
		msg += "; it never begins anew, but another session has a limit of its own"
	}
	return &chela.Error{
		Kind: chela.Exhausted, Limit: b.Limit, Msg: msg,
		Hint: fmt.Sprintf("raise it with chela config set limits.%s %s, which holds from the next start on", b.Limit, raised),
	}
}

const cent = int64(chela.USD / 100)

// later returns an error that kept a call from being made: as chela.ErrLater if the
// store did not do what it should, and as it is if a limit refuses the call, somebody
// else runs the turn, or the caller is gone.
func later(ctx context.Context, err error) error {
	if ctx.Err() != nil || limitOf(err) != "" || chela.KindOf(err) == chela.Conflict {
		return err
	}
	return fmt.Errorf("%w: %w", chela.ErrLater, err)
}

// warning is what is said once when most of a limit is spent.
func warning(b chela.Budget, zone *time.Location) string {
	what := fmt.Sprintf("%s of the %s %s that may be spent are", chela.MicroUSD(b.Spent), chela.MicroUSD(b.Most), named[b.Limit])
	if b.Limit == chela.LimitActions {
		what = fmt.Sprintf("%d of the %d model calls that an hour may have are", b.Spent, b.Most)
	}
	text := what + " used up"
	if !b.Resets.IsZero() {
		text += "; the limit begins anew at " + moment(b.Resets, zone)
	}
	return text
}

// moment is a time as people of a zone write it.
func moment(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04 MST")
}
