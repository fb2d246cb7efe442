package gateway

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// key returns the session key in the path.
func keyOf(v *edge.Visit) (chela.SessionKey, error) {
	key := chela.SessionKey(v.Request.PathValue("key"))
	_, err := chela.ParseSessionKey(key)
	return key, err
}

// maxCursor is how many bytes a cursor or an id in a filter may have.
const maxCursor = 256

// eventKinds are the events that can be asked for.
var eventKinds = []chela.EventKind{
	chela.EventTurnStarted, chela.EventTurnProgress, chela.EventTurnFinished, chela.EventTextDelta, chela.EventTextReset, chela.EventThinkingDelta,
	chela.EventEntryAppended, chela.EventToolRequested, chela.EventToolStarted, chela.EventToolOutput, chela.EventToolFinished, chela.EventToolOffered,
	chela.EventApprovalRequested, chela.EventApprovalAnswered, chela.EventMessageDropped, chela.EventSessionChanged, chela.EventJobChanged, chela.EventJobOutput,
	chela.EventRoutineFired, chela.EventRoutineFinished, chela.EventNotice, chela.EventReply, chela.EventHookFired, chela.EventResync,
}

// filterOf returns the events that a query asks for. A browser that comes back
// repeats its first query, so what it has seen since goes before.
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

// checkFilter returns an Invalid error for a filter that can let nothing
// through.
func checkFilter(f api.Filter) error {
	if f.Session != "" {
		if _, err := chela.ParseSessionKey(f.Session); err != nil {
			return err
		}
	}
	if len(f.After) > maxCursor || len(f.Thread) > maxCursor || !utf8.ValidString(string(f.After)+string(f.Thread)) {
		return chela.E(chela.Invalid, "the cursor or the thread is not one")
	}
	for _, kind := range f.Kinds {
		if !slices.Contains(eventKinds, kind) {
			return chela.E(chela.Invalid, fmt.Sprintf("there are no events %.60q", kind)).WithHint("see /api/openapi.json for what there is")
		}
	}
	return nil
}
