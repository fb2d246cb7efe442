package folder

import (
	"context"

	"chela/internal/store"
)

// find reads from the store, once more if that failed: a tool that looks for its files
// would tell its model of a fault that has passed.
func find[T any](ctx context.Context, s *store.Store, read func(*store.Read) (T, error)) (T, error) {
	found, err := store.Find(ctx, s, read)
	if err != nil && ctx.Err() == nil {
		found, err = store.Find(ctx, s, read)
	}
	return found, err
}
