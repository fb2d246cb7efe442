package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/documents"
	"chela/internal/gateway/edge"
	"chela/internal/gateway/jobs"
	"chela/internal/gateway/notices"
	"chela/internal/gateway/rewinds"
	"chela/internal/gateway/routines"
	"chela/internal/gateway/usages"
	"chela/internal/gateway/ws"
)

// Routes returns the API as it is served, one row for each route.
func Routes() []api.Route {
	var rows []api.Route
	for _, r := range new(Gateway).routes() {
		rows = append(rows, r.Route)
	}
	return rows
}

// routes is the whole API: the mux, the check of scopes and the OpenAPI
// document are made of it.
func (g *Gateway) routes() []edge.Route {
	var rows []edge.Route
	for _, r := range slices.Concat(g.publicRoutes(), g.messageRoutes(), g.sessionRoutes(), g.turnRoutes(), g.homeRoutes(), g.openAIRoutes()) {
		rows = append(rows, edge.Route(r))
	}
	return slices.Concat(
		rows, documents.Routes(g.cfg.Home.Memory), rewinds.Routes(g.cfg.Home.Rewinds), usages.Routes(g.cfg.Home.Usage), jobs.Routes(g.cfg.Home.Jobs),
		notices.Routes(g.cfg.Home.Notices),
		routines.Routes(g.cfg.Home.Routines, routines.Limits{Bytes: g.cfg.HookBytes, Meter: g.hooks}),
	)
}

func (g *Gateway) publicRoutes() []route {
	return []route{
		get("/healthz", api.Public, "Tell that the process lives").gives(api.Health{}).by(g.health),
		get("/readyz", api.Public, "Tell whether messages are taken").gives(api.Health{}).by(g.ready),
		get("/", api.Public, "Show what runs here").as(api.HTML).by(g.page),
		get("/api/openapi.json", chela.ScopeRead, "Describe these routes as OpenAPI does").gives(json.RawMessage{}).by(g.getOpenAPI),

		post("/api/login", api.Public, "Log a page in with a token").takes(api.Login{}).gives(api.LoggedIn{}).by(g.login),
		get("/api/login", chela.ScopeRead, "Tell who asks").gives(api.LoggedIn{}).by(g.loggedIn),
		remove("/api/login", chela.ScopeRead, "Log a page out").by(g.logout),
	}
}

func (g *Gateway) messageRoutes() []route {
	return []route{
		post("/api/messages", chela.ScopeChat, "Send a message").takes(api.Message{}).upTo(api.MaxBatch).
			gives(api.Receipt{}).with(http.StatusAccepted).isMetered().by(g.postMessage),
		post("/api/attachments", chela.ScopeChat, "Keep a file for a message").takesBytes().upTo(api.MaxAttachment).
			query(text("name", "what the file is called")).gives(chela.Attachment{}).with(http.StatusCreated).by(g.postAttachment),
		get("/api/events", chela.ScopeRead, "Follow what happens").gives(chela.Event{}).as(api.Stream).
			query(text("session", "of this session only"), text("thread", "of this thread only"),
				text("kinds", "of these kinds only, separated by commas"),
				text("after", "from the event with this cursor on; Last-Event-ID goes before")).
			headers(text("Last-Event-ID", "the cursor of the last event that was seen")).
			isLong().by(g.getEvents),
		get("/api/ws", chela.ScopeRead, "Speak both ways over a WebSocket").gives(api.Frame{}).with(http.StatusSwitchingProtocols).
			isLong().by(g.webSocket().Serve),
	}
}

// webSocket is what can be done over a WebSocket.
func (g *Gateway) webSocket() ws.Home {
	return ws.Home{
		IDs: g.cfg.IDs, Now: g.cfg.Now, Accept: g.accept, Decide: g.decide, Subscribe: g.subscribe,
		Stop: func(ctx context.Context, id chela.TurnID) error { return g.cfg.Home.Conversation.Stop(ctx, id) },
	}
}

func (g *Gateway) sessionRoutes() []route {
	return []route{
		get("/api/sessions", chela.ScopeRead, "List sessions").gives(api.Page[chela.Session]{}).
			query(after("the key of the last session of the page before"), limit(), flag("archived", "also those that are archived")).
			by(g.getSessions),
		get("/api/sessions/{key}", chela.ScopeRead, "Show a session and what was spent in it").gives(api.Session{}).by(g.getSession),
		patch("/api/sessions/{key}", chela.ScopeChat, "Change settings of a session").
			takes(api.SettingsPatch{}).gives(chela.Session{}).by(g.patchSession),
		remove("/api/sessions/{key}", chela.ScopeChat, "Archive a session").gives(chela.Session{}).with(http.StatusOK).by(g.archiveSession),
		post("/api/sessions/{key}/reset", chela.ScopeChat, "Begin a new thread in a session").gives(chela.Thread{}).by(g.resetSession),
		post("/api/sessions/{key}/import", chela.ScopeChat, "Make a transcript the current thread of a session").takesLines().upTo(api.MaxTranscript).
			gives(api.Imported{}).isLong().by(g.importThread),

		get("/api/threads", chela.ScopeRead, "List the threads of a session, the last used first").gives(api.Page[chela.Thread]{}).
			query(text("session", "the key of the session; the main one without it")).by(g.getThreads),
		post("/api/threads", chela.ScopeChat, "Begin a new thread in a session").
			takes(api.NewThread{}).gives(chela.Thread{}).with(http.StatusCreated).by(g.postThread),
		patch("/api/threads/{id}", chela.ScopeChat, "Give a thread another title").
			takes(api.ThreadPatch{}).gives(chela.Thread{}).by(g.patchThread),
		get("/api/threads/{id}", chela.ScopeRead, "Show a thread and where it can go").gives(api.Thread{}).by(g.getThread),
		get("/api/threads/{id}/prompt", chela.ScopeRead, "Show what the next prompt of a thread takes").gives(chela.PromptSize{}).by(g.getPrompt),
		get("/api/threads/{id}/export", chela.ScopeRead, "Write a thread down, an entry a line").as(api.Lines).
			query(text("view", "full, or compacted for what a prompt can hold; full without it"), flag("all", "also the branches that were left"),
				flag("attachments", "also the content of attachments")).
			isLong().by(g.exportThread),
		post("/api/threads/{id}/compact", chela.ScopeChat, "Put a summary in the place of what was said in a thread").
			takes(api.Compact{}).gives(api.Receipt{}).with(http.StatusAccepted).isMetered().by(g.postCompact),
		get("/api/threads/{id}/entries", chela.ScopeRead, "List the entries of a thread").gives(api.Page[chela.Entry]{}).
			query(after("the sequence of the last entry of the page before"), limit(),
				flag("path", "all from the root to the head instead")).
			by(g.getEntries),
	}
}

func (g *Gateway) turnRoutes() []route {
	return []route{
		get("/api/turns/{id}", chela.ScopeRead, "Show a turn and what it came to").gives(api.Turn{}).
			query(number("wait_ms", "wait so long until it ended or waits for a person; at most 120000")).isLong().by(g.getTurn),
		post("/api/turns/{id}/cancel", chela.ScopeChat, "Stop a turn").gives(api.Turn{}).with(http.StatusAccepted).by(g.cancelTurn),
		post("/api/turns/{id}/steer", chela.ScopeChat, "Say something into a running turn").
			takes(api.Steer{}).gives(api.Receipt{}).with(http.StatusAccepted).isMetered().by(g.steerTurn),
		get("/api/turns/{id}/trace", chela.ScopeRead, "Show all that the journal holds of a turn").gives(api.Trace{}).by(g.getTrace),
		post("/api/turns/{id}/replay", chela.ScopeChat, "Run a turn again from its record and compare").
			takes(api.Replaying{}).gives(chela.Replay{}).isMetered().isLong().by(g.replayTurn),

		get("/api/approvals", chela.ScopeRead, "List approvals, the oldest first").gives(api.Page[chela.Approval]{}).
			query(text("state", "pending, granted, denied, expired or withdrawn; all without it")).by(g.getApprovals),
		get("/api/approvals/{id}", chela.ScopeRead, "Show an approval").gives(chela.Approval{}).by(g.getApproval),
		post("/api/approvals/{id}", chela.ScopeChat, "Answer an approval").
			takes(api.Answer{}).gives(chela.Approval{}).by(g.answerApproval),
		get("/api/grants", chela.ScopeRead, "List standing answers").gives(api.Page[chela.Grant]{}).by(g.getGrants),
		remove("/api/grants/{id}", chela.ScopeChat, "Revoke a standing answer").by(g.revokeGrant),
	}
}

func (g *Gateway) homeRoutes() []route {
	return []route{
		get("/api/tools", chela.ScopeRead, "List the tools of an agent").gives(api.Page[api.Tool]{}).
			query(text("agent", "its name; main without it")).by(g.getTools),
		post("/api/tools/{name}/run", chela.ScopeAdmin, "Run a tool by hand").
			takes(api.ToolRun{}).gives(api.ToolOutcome{}).isLong().by(g.runTool),
		get("/api/models", chela.ScopeRead, "List models").gives(api.Models{}).by(g.getModels),
		post("/api/models/test", chela.ScopeChat, "Try a model out, or those of every provider that is set up").
			takes(api.ModelTest{}).gives(api.Page[chela.Trial]{}).isMetered().isLong().by(g.testModel),
		get("/api/status", chela.ScopeRead, "Count what is in the home").gives(chela.Status{}).by(g.getStatus),
		get("/api/config", chela.ScopeRead, "List settings and where they came from").gives(api.Page[api.Setting]{}).by(g.getConfig),
		patch("/api/config", chela.ScopeAdmin, "Change a setting, from the next start on").
			takes(api.SettingChange{}).by(g.patchConfig),
		get("/api/logs", chela.ScopeAdmin, "Read the log, a line for each event").gives("").as(api.Stream).
			query(flag("follow", "go on with each new line")).isLong().by(g.getLogs),

		get("/api/tokens", chela.ScopeAdmin, "List tokens").gives(api.Page[chela.Token]{}).by(g.getTokens),
		post("/api/tokens", chela.ScopeAdmin, "Make a token, whose secret is shown once").
			takes(api.NewToken{}).gives(api.MadeToken{}).with(http.StatusCreated).by(g.makeToken),
		remove("/api/tokens/{id}", chela.ScopeAdmin, "Revoke a token").by(g.revokeToken),
	}
}

// openAIRoutes speak OpenAI's protocol, which describes their bodies.
func (g *Gateway) openAIRoutes() []route {
	object := json.RawMessage{}
	session := text(api.SessionHeader, "the key of the session; that of the user in the body without it")
	name := text(api.MessageIDHeader, "names the request, so that it can be sent again")
	return []route{
		post("/v1/chat/completions", chela.ScopeChat, "Chat as OpenAI's Chat Completions do").takes(object).upTo(api.MaxBatch).
			headers(session, name).gives(object).isMetered().isLong().asOpenAI(g.openAI.ChatCompletions),
		post("/v1/responses", chela.ScopeChat, "Chat as OpenAI's Responses do").takes(object).upTo(api.MaxBatch).
			headers(session, name).gives(object).isMetered().isLong().asOpenAI(g.openAI.Responses),
		post("/v1/embeddings", chela.ScopeChat, "Embed texts as OpenAI does").takes(object).gives(object).asOpenAI(g.openAI.Embeddings),
		get("/v1/models", chela.ScopeRead, "List models as OpenAI does").gives(object).asOpenAI(g.openAI.Models),
		get("/v1/models/{model...}", chela.ScopeRead, "Show a model as OpenAI does").gives(object).asOpenAI(g.openAI.Model),
	}
}
