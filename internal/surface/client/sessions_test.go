package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

func TestSessionsAreChanged(t *testing.T) {
	t.Parallel()
	s := chela.Session{Key: far, UpdatedAt: day.UTC()}
	checkNouns(t, []nounsCase{
		{
			"change", func(ctx context.Context, c *client.Client) (any, error) {
				label := "home"
				change := api.SessionChange{SessionRef: api.SessionRef{Key: far}, Settings: api.SettingsPatch{Label: &label}}
				return api.Call(ctx, c, api.SessionsChange, change)
			},
			[]any{s},
			[]string{"PATCH /api/sessions/agent:main:telegram:dm:a%252Fb%253Ac", `{"label":"home"}`},
			s,
		},
		{
			"create", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsCreate, api.NewThread{Session: far, Title: "taxes"})
			},
			[]any{thr},
			[]string{"POST /api/threads", `{"session":"agent:main:telegram:dm:a%2Fb%3Ac","title":"taxes"}`},
			thr,
		},
		{
			"title", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsTitle, api.ThreadTitle{ThreadRef: slash, Patch: api.ThreadPatch{Title: "taxes"}})
			},
			[]any{thr},
			[]string{"PATCH /api/threads/thr%2F1", `{"title":"taxes"}`},
			thr,
		},
	})
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	done := api.ImportResult{Session: far, Thread: "thr_1", Added: 2}
	checkNouns(t, []nounsCase{
		{
			"export", func(ctx context.Context, c *client.Client) (any, error) {
				var text strings.Builder
				err := c.Export(ctx, "thr/1", api.Export{Compacted: true, Attachments: true}, &text)
				return strings.TrimSpace(text.String()), err
			},
			[]any{"a line"},
			[]string{"GET /api/threads/thr%2F1/export?all=false&attachments=true&view=compacted"},
			"a line",
		},
		{
			"import", func(ctx context.Context, c *client.Client) (any, error) {
				return c.Import(ctx, far, strings.NewReader(`{"type":"session"}`))
			},
			[]any{done},
			[]string{"POST /api/sessions/agent:main:telegram:dm:a%252Fb%253Ac/import", `{"type":"session"}`},
			done,
		},
	})
}

func TestSessionsAndThreads(t *testing.T) {
	t.Parallel()
	older, newer := chela.Session{Key: "agent:main:main", UpdatedAt: day.UTC()}, chela.Session{Key: far, UpdatedAt: day.UTC().Add(1)}
	entries := []chela.Entry{{ID: "ent_1", Body: chela.UserBody{}}, {ID: "ent_2", Body: chela.UserBody{}}}
	checkNouns(t, []nounsCase{
		{
			"sessions, on two pages", func(ctx context.Context, c *client.Client) (any, error) {
				return api.All(ctx, c, api.SessionsList, api.SessionFilter{Archived: true, Limit: api.MaxPage})
			},
			[]any{api.Page[chela.Session]{Items: []chela.Session{older}, Next: string(older.Key)}, page(newer)},
			[]string{"GET /api/sessions?archived=true&limit=500", "GET /api/sessions?after=agent%3Amain%3Amain&archived=true&limit=500"},
			[]chela.Session{older, newer},
		},
		{
			"session", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.SessionsShow, api.SessionRef{Key: far})
			},
			[]any{api.Session{Session: newer, Usage: chela.TokenUsage{Input: 7}}},
			[]string{"GET /api/sessions/agent:main:telegram:dm:a%252Fb%253Ac"},
			api.Session{Session: newer, Usage: chela.TokenUsage{Input: 7}},
		},
		{
			"threads", func(ctx context.Context, c *client.Client) (any, error) {
				return api.All(ctx, c, api.ThreadsList, api.ThreadFilter{Session: far})
			},
			[]any{page(thr2, thr)},
			[]string{"GET /api/threads?session=agent%3Amain%3Atelegram%3Adm%3Aa%252Fb%253Ac"},
			[]chela.Thread{thr2, thr},
		},
		{
			"thread", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsShow, api.ThreadRef{ID: ".."})
			},
			[]any{api.Thread{Thread: thr}},
			[]string{"GET /api/threads/%2E%2E"},
			api.Thread{Thread: thr},
		},
		{
			"path", func(ctx context.Context, c *client.Client) (any, error) {
				return api.All(ctx, c, api.ThreadsEntries, api.EntriesQuery{ThreadRef: slash, Path: true})
			},
			[]any{page(entries...)},
			[]string{"GET /api/threads/thr%2F1/entries?path=true"},
			entries,
		},
		{
			"prompt", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.ThreadsPrompt, slash)
			},
			[]any{api.PromptSize{Model: "a/b", Total: 7, Ratio: 1.5}},
			[]string{"GET /api/threads/thr%2F1/prompt"},
			api.PromptSize{Model: "a/b", Total: 7, Ratio: 1.5},
		},
	})
}

func TestTurns(t *testing.T) {
	t.Parallel()
	journal := api.Trace{
		Entries: []chela.Entry{{ID: "ent_1", Body: chela.UserBody{}}, {ID: "ent_2", Body: chela.UserBody{}}}, Calls: []chela.ToolCall{{ID: "call_1", Args: json.RawMessage(`{}`)}},
		Usage: []chela.Usage{{ID: "use_1", Payer: chela.Payer{Turn: "turn_1"}, Cost: 5}},
	}
	first := api.TurnRef{ID: "turn_1"}
	turn := chela.Turn{ID: "turn_1", State: chela.TurnCompleted}
	checkNouns(t, []nounsCase{
		{
			"turn", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.TurnsShow, api.TurnQuery{TurnRef: first, WaitMS: 5})
			},
			[]any{api.Turn{Turn: turn, Answer: "x"}},
			[]string{"GET /api/turns/turn_1?wait_ms=5"},
			api.Turn{Turn: turn, Answer: "x"},
		},
		{
			"trace", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.TurnsTrace, first)
			},
			[]any{journal},
			[]string{"GET /api/turns/turn_1/trace"},
			journal,
		},
		{
			"replay", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.TurnsReplay, api.TurnReplay{TurnRef: first, How: api.ReplayOptions{Live: true}})
			},
			[]any{api.Replay{Turn: "turn_1", Same: true, Entries: 2}},
			[]string{"POST /api/turns/turn_1/replay", `{"live":true}`},
			api.Replay{Turn: "turn_1", Same: true, Entries: 2},
		},
		{
			"cancel", func(ctx context.Context, c *client.Client) (any, error) {
				return api.Call(ctx, c, api.TurnsCancel, first)
			},
			[]any{api.Turn{Turn: turn}},
			[]string{"POST /api/turns/turn_1/cancel"},
			api.Turn{Turn: turn},
		},
	})
}
