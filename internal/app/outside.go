package app

import (
	"context"

	"chela"
	"chela/internal/engine/session"
	"chela/internal/platform/datadir"
	"chela/internal/surface/gateway"
	"chela/internal/tool/web"
)

// home returns the services that the gateway exposes.
func (a *App) home() gateway.Services {
	scopes := session.Scopes{DM: a.cfg.Session.DMScope, Links: a.cfg.Session.IdentityLinks}
	return gateway.Services{
		Place:        scopes.Place,
		Conversation: a.ingress, Events: a.stream, Transcripts: a.sessions, Turns: a.turns, Models: a.models, Responses: a.turns,
		Tokens: a.tokens, Logins: a.tokens, Requests: a.tokens,
		Attach: a.blobs.Attach, Kept: a.blobs.Kept, Ready: a.ready,
		Operations: a.operations, Hook: a.background.Routines().Hook, Logs: a.logs, Agents: a.agents, Image: a.image,
	}
}

// image fetches an image from the hosts that the tool http may reach.
func (a *App) image(ctx context.Context, address string) (mediaType string, content []byte, err error) {
	fetch, err := web.Images(web.Config{Allow: a.cfg.Tools.HTTPAllow})
	if err != nil {
		return "", nil, err
	}
	return fetch(ctx, address)
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
