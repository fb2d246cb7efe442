package app

import (
	"context"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/notices"
)

// noticeRoutes are the notices of the home as the gateway serves them.
func (a *App) noticeRoutes() notices.Home {
	return notices.Home{Pending: a.pendingNotices, Seen: a.seenNotices}
}

// pendingNotices returns the notices for whoever looks that nobody has seen.
func (a *App) pendingNotices(ctx context.Context) ([]chela.Outbound, error) {
	return a.background.Notices().Pending(ctx, api.NoticeChannel)
}

func (a *App) seenNotices(ctx context.Context, ids []chela.OutboxID) error {
	return a.background.Notices().Seen(ctx, api.NoticeChannel, ids)
}
