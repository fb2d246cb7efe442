package client

import (
	"context"
	"errors"
	"time"

	"chela/internal/platform/local"

	"chela"
)

const (
	patience  = 30 * time.Second       // for a daemon to return while a turn is followed
	tryTime   = 5 * time.Second        // timeout of one attempt in that time
	sendTime  = 90 * time.Second       // timeout of one attempt to send a message, which hooks may inspect for a minute
	firstWait = 100 * time.Millisecond // first backoff; doubles
	maxWait   = 2 * time.Second
)

func longer(wait time.Duration) time.Duration { return min(max(2*wait, firstWait), maxWait) }

// persist retries an attempt while its error is Unavailable, with backoff,
// until its patience is used up. It returns the last error, or ctx's. An
// in-process server that answers Unavailable is not retried, because no other
// process will replace it.
func (c *Client) persist(ctx context.Context, attempt func(context.Context) error) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := longer(0); ; wait = longer(wait) {
		err := attempt(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case chela.KindOf(err) != chela.Unavailable, c.local && !errors.Is(err, errNoAnswer):
			return err
		case local.Sleep(patient, wait) != nil && ctx.Err() == nil:
			return err
		}
	}
}
