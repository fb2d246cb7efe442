package lane

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// admit counts a message in, or refuses it with an Exhausted error if the class
// has too many running and waiting turns: a refused sender can retry, and
// accepted work is not slowed down. Results for a waiting turn and
// announcements of chela are always admitted. A repeated delivery returns the
// receipt of the first one.
func (l *Lanes) admit(ctx context.Context, in chela.Inbound) (leave func(), again *api.Receipt, err error) {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return nil, nil, err
	}
	leave, room := l.places.Enter(key.Class())
	if room || len(in.Results) > 0 || in.Queue.Drop == chela.DropNever {
		return leave, nil, nil
	}
	defer leave()
	err = l.store.Read(ctx, func(r *store.Read) error {
		receipt, err := known(ctx, r, in)
		if chela.KindOf(err) == chela.NotFound {
			return chela.E(chela.Exhausted, fmt.Sprintf("%d turns are already running or waiting", l.places.Limit(key.Class()))).WithHint("try again in a moment")
		}
		again = &receipt
		return err
	})
	return func() {}, again, err
}
