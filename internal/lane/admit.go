package lane

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store"
)

// admit counts a message in, unless more turns wait already than may: whoever
// is refused at once can come back, and what was accepted is not slowed down.
// Results for a turn that waits for them are always let in. A message that was
// accepted before is answered by its receipt, which is then not nil.
func (l *Lanes) admit(ctx context.Context, in chela.Inbound) (leave func(), again *Receipt, err error) {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return nil, nil, err
	}
	leave, room := l.places.Enter(key.Class())
	if room || len(in.Results) > 0 {
		return leave, nil, nil
	}
	defer leave()
	err = l.store.Read(ctx, func(r *store.Read) error {
		receipt, err := known(ctx, r, in)
		if chela.KindOf(err) == chela.NotFound {
			return chela.E(chela.Exhausted, fmt.Sprintf("%d turns run or wait already", l.places.Limit(key.Class()))).WithHint("try again in a moment")
		}
		again = &receipt
		return err
	})
	return func() {}, again, err
}
