package gateway

import (
	"net/url"
	"strings"

	"chela"
	"chela/internal/api"
)

// filterOf returns the events that a query asks for. A browser that reconnects
// repeats its first query, so Last-Event-ID has precedence.
func filterOf(query url.Values, lastEventID string) api.Filter {
	f := api.Filter{
		Session: chela.SessionKey(query.Get("session")), Thread: chela.ThreadID(query.Get("thread")), After: chela.Cursor(query.Get("after")),
	}
	if lastEventID != "" {
		f.After = chela.Cursor(lastEventID)
	}
	if given := query.Get("kinds"); given != "" {
		for name := range strings.SplitSeq(given, ",") {
			f.Kinds = append(f.Kinds, chela.EventKind(name))
		}
	}
	return f
}
