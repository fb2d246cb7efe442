package lane

import (
	"context"

	"chela"
	"chela/internal/api"
)

// full answers a message of a class that has too many running and waiting
// turns with an Exhausted error: a refused sender can retry, and accepted work
// is not slowed down. A repeated delivery gets the receipt of the first one.
func (l *Lanes) full(ctx context.Context, in chela.Inbound, class chela.Class) (api.Receipt, error) {
	r, ok, err := l.Known(ctx, in)
	if err == nil && !ok {
		err = chela.Ef(chela.Exhausted, "%d turns are already running or waiting", l.places.Limit(class)).WithHint("try again in a moment")
	}
	return r, err
}
