package cli_test

import (
	"context"
	"encoding/json"

	"chela"
	"chela/internal/api"
)

// conversations are the operations on sessions and their threads.
func (h *home) conversations() []api.Bound {
	return []api.Bound{
		api.SessionsList.Do(func(context.Context, api.Caller, api.SessionFilter) (api.Page[chela.Session], error) {
			return api.Paged(h.sessions(), 0, func(s chela.Session) string { return string(s.Key) }), nil
		}),
		api.SessionsShow.Do(func(context.Context, api.Caller, api.SessionRef) (api.Session, error) {
			return api.Session{Session: h.sessions()[0], Usage: chela.TokenUsage{Input: 1200, Output: 80}}, nil
		}),
		api.SessionsChange.Do(h.changed),
		api.ThreadsList.Do(func(context.Context, api.Caller, api.ThreadFilter) (api.Page[chela.Thread], error) {
			return api.Page[chela.Thread]{Items: []chela.Thread{h.thread()}}, nil
		}),
		api.ThreadsCreate.Do(func(_ context.Context, _ api.Caller, q api.NewThread) (chela.Thread, error) {
			if q.Session != "agent:main:main" {
				return chela.Thread{}, chela.E(chela.NotFound, "there is no session "+string(q.Session))
			}
			return chela.Thread{ID: "thr_2", Session: q.Session, Title: q.Title, State: chela.ThreadIdle, CreatedAt: day, UpdatedAt: day}, nil
		}),
		api.ThreadsTitle.Do(func(_ context.Context, _ api.Caller, q api.ThreadTitle) (chela.Thread, error) {
			t := h.thread()
			t.Title = q.Patch.Title
			return t, nil
		}),
		api.ThreadsPrompt.Do(func(_ context.Context, _ api.Caller, q api.ThreadRef) (chela.PromptSize, error) {
			if q.ID != "thr_1" {
				return chela.PromptSize{}, chela.E(chela.NotFound, "there is no thread "+string(q.ID))
			}
			return chela.PromptSize{
				Model: "offline/rules", Window: 1000, Reserve: 250, Room: 750, System: 100, Tools: 50, User: 7, Messages: 1, Ratio: 1.25, Total: 196,
			}, nil
		}),
		api.ThreadsEntries.Do(func(context.Context, api.Caller, api.EntriesQuery) (api.Page[chela.Entry], error) {
			echo := chela.CallSpec{Tool: "echo", Args: json.RawMessage(`{"message":"x"}`)}
			return api.Page[chela.Entry]{Items: []chela.Entry{
				{Kind: chela.EntryUser, CreatedAt: day, Body: chela.Body{Text: "hello"}},
				{Kind: chela.EntryAssistant, CreatedAt: day, Body: chela.Body{Calls: []chela.CallSpec{echo}}},
				{Kind: chela.EntryToolResult, CreatedAt: day, Body: chela.Body{Tool: "echo", Status: chela.CallDone, Text: "x"}},
			}}, nil
		}),
	}
}

func (h *home) sessions() []chela.Session {
	main := chela.Session{Key: "agent:main:main", Agent: "main", Thread: "thr_1", UpdatedAt: day, CreatedAt: day, Settings: h.settings}
	return append([]chela.Session{main}, h.more...)
}

func (h *home) thread() chela.Thread {
	return chela.Thread{
		ID: "thr_1", Session: "agent:main:main", Title: "A \x1b[31mtitle", Seq: 2, State: chela.ThreadIdle, UpdatedAt: day,
	}
}

func (h *home) changed(_ context.Context, _ api.Caller, q api.SessionChange) (chela.Session, error) {
	if q.Settings.Label != nil {
		h.settings.Label = *q.Settings.Label
	}
	if q.Settings.Thread != nil {
		h.settings.Last = chela.Origin{Channel: "terminal"}
	}
	return chela.Session{Key: q.Key, Settings: h.settings}, nil
}
