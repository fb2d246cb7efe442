package app

import (
	"context"

	"chela"
	"chela/internal/engine/session"
	"chela/internal/platform/datadir"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/openai"
	"chela/internal/tool/web"
)

// home returns the services that the gateway exposes.
func (a *App) home() gateway.Services {
	return gateway.Services{
		OpenAI: openai.Home{
			Conversation: a.ingress, Turns: a.turns, Models: a.models, Responses: a.turns, Agents: a.agents, Files: a.blobs,
			Operations: a.operations, Image: a.image,
		},
		Scopes:       session.Scopes{DM: a.cfg.Session.DMScope, Links: a.cfg.Session.IdentityLinks},
		Conversation: a.ingress, Events: a.stream, Transcripts: a.sessions, Turns: a.turns, Logins: a.tokens, Files: a.blobs,
		Operations: a.operations, Ready: a.ready, Hook: a.background.Routines().Hook, Logs: a.logs,
	}
}

// image fetches an image from the hosts that the tool http may reach.
func (a *App) image(ctx context.Context, address string) (mediaType string, content []byte, err error) {
	return web.Images(a.dialer)(ctx, address)
}

// ready returns nil when messages are accepted.
func (a *App) ready(ctx context.Context) error {
	if !a.stays() {
		return chela.E(chela.Unavailable, "chela is starting")
	}
	return a.probe.check(ctx)
}

// logs passes lines of the home's log to show.
func (a *App) logs(ctx context.Context, follow bool, show func(line string)) error {
	return datadir.ReadLog(ctx, a.cfg.Home.Log(), follow, show)
}
