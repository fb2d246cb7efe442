package notice

import (
	"context"

	"chela"
	"chela/internal/api"
)

// Operations binds the operations on the notices that clients poll.
func (d *Notices) Operations() []api.Bound {
	return []api.Bound{
		api.NoticesList.Do(func(ctx context.Context, _ api.Caller, q api.NoticeQuery) (api.Page[chela.Outbound], error) {
			pending, err := d.Pending(ctx, api.NoticeChannel)
			if err != nil {
				return api.Page[chela.Outbound]{}, err
			}
			return api.Cut(pending, string(q.After), q.Limit, func(o chela.Outbound) string { return string(o.ID) })
		}),
		api.NoticesSeen.Do(func(ctx context.Context, _ api.Caller, q api.NoticeIDs) (api.None, error) {
			return api.None{}, d.Seen(ctx, api.NoticeChannel, q.IDs)
		}),
	}
}
