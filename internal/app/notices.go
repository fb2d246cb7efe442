package app

import (
	"context"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
)

// noticeRoutes are the notices of the home for the gateway.
func (a *App) noticeRoutes() gateway.NoticeAPI {
	return gateway.NoticeAPI{Pending: a.pendingNotices, Seen: a.seenNotices}
}

// pendingNotices returns the unread notices.
func (a *App) pendingNotices(ctx context.Context) ([]chela.Outbound, error) {
	return a.background.Notices().Pending(ctx, api.NoticeChannel)
}

func (a *App) seenNotices(ctx context.Context, ids []chela.OutboxID) error {
	return a.background.Notices().Seen(ctx, api.NoticeChannel, ids)
}
