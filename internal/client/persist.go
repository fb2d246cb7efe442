package client

import (
	"context"
	"errors"
	"time"

	"chela/internal/pause"

	"chela"
)

const (
	patience  = 30 * time.Second       // for a daemon to come back while a turn is waited for
	tryTime   = 5 * time.Second        // for one attempt meanwhile
	sendTime  = 90 * time.Second       // for one attempt to send a message, which hooks may look at for a minute
	firstWait = 100 * time.Millisecond // between attempts; doubles
	maxWait   = 2 * time.Second
)

func longer(wait time.Duration) time.Duration { return min(max(2*wait, firstWait), maxWait) }

// persist repeats an attempt for as long as its error is Unavailable and there is
// patience. It returns the last error, or that of ctx.
func persist(ctx context.Context, attempt func(context.Context) error) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := longer(0); ; wait = longer(wait) {
		err := attempt(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case chela.KindOf(err) != chela.Unavailable:
			return err
		case pause.For(patient, wait) != nil && ctx.Err() == nil:
			return err
		}
	}
}

// gone says what becomes of a turn whose daemon did not come back in time.
func (w *watch) gone(err error) error {
	switch {
	case !errors.Is(err, errNoAnswer):
		return err
	case w.turn.ID == "":
		return chela.E(chela.Unavailable, "the daemon does not answer any more; the message is stored, and its turn begins with the daemon's next start").
			WithHint("see chela sessions show " + string(w.session) + " then").Because(err)
	default:
		return chela.E(chela.Unavailable, "the daemon does not answer any more; the turn goes on with the daemon's next start").
			WithHint("see chela turns show " + string(w.turn.ID) + " then").Because(err)
	}
}
