package gateway

import (
	"cmp"
	"net/http"
	"strconv"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

func (g *Gateway) getSessions(v *edge.Visit) error {
	after, rows, ctx := chela.SessionKey(v.Query.Get("after")), v.Rows(), v.Request.Context()
	if after != "" {
		if _, err := g.cfg.Home.Sessions.Session(ctx, after); err != nil {
			return api.Unknown(string(after), err)
		}
	}
	sessions, err := g.cfg.Home.Sessions.Sessions(ctx, after, rows+1, v.Flag("archived"))
	if err != nil {
		return err
	}
	return v.OK(api.Paged(sessions, rows, func(s chela.Session) string { return string(s.Key) }))
}

func (g *Gateway) getSession(v *edge.Visit) error {
	s, err := g.cfg.Home.Sessions.Session(v.Request.Context(), keyOf(v))
	return found(v, s, err)
}

func (g *Gateway) patchSession(v *edge.Visit) error {
	var p api.SettingsPatch
	if err := v.Decode(&p); err != nil {
		return err
	}
	return g.changeSession(v, p)
}

func (g *Gateway) archiveSession(v *edge.Visit) error {
	archived := true
	return g.changeSession(v, api.SettingsPatch{Archived: &archived})
}

func (g *Gateway) changeSession(v *edge.Visit, p api.SettingsPatch) error {
	s, err := g.cfg.Home.Keeper.ChangeAs(v.Request.Context(), keyOf(v), p, v.By.Token.Scope)
	return found(v, s, err)
}

func (g *Gateway) resetSession(v *edge.Visit) error {
	t, err := g.cfg.Home.Keeper.Begin(v.Request.Context(), keyOf(v), "")
	return found(v, t, err)
}

func (g *Gateway) getThreads(v *edge.Visit) error {
	key := chela.SessionKey(cmp.Or(v.Query.Get("session"), string(chela.MainKey(chela.MainAgent))))
	threads, err := g.cfg.Home.Threads.Threads(v.Request.Context(), key)
	return edge.List(v, threads, err, func(t chela.Thread) string { return string(t.ID) })
}

func (g *Gateway) postThread(v *edge.Visit) error {
	var asked api.NewThread
	if err := v.Decode(&asked); err != nil {
		return err
	}
	key := cmp.Or(asked.Session, chela.MainKey(chela.MainAgent))
	t, err := g.cfg.Home.Keeper.Begin(v.Request.Context(), key, asked.Title)
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, t)
}

func (g *Gateway) patchThread(v *edge.Visit) error {
	var p api.ThreadPatch
	if err := v.Decode(&p); err != nil {
		return err
	}
	t, err := g.cfg.Home.Keeper.Title(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")), p.Title)
	return found(v, t, err)
}

func (g *Gateway) getPrompt(v *edge.Visit) error {
	size, err := g.cfg.Home.Prompt(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")))
	return found(v, size, err)
}

func (g *Gateway) getEntries(v *edge.Visit) error {
	id, ctx := chela.ThreadID(v.Request.PathValue("id")), v.Request.Context()
	if v.Flag("path") {
		entries, err := g.cfg.Home.Threads.Path(ctx, id)
		return edge.List(v, entries, err, sequence)
	}
	rows, after := v.Rows(), v.Number("after", 0)
	if after > 0 {
		last, err := g.cfg.Home.Threads.Entries(ctx, id, after-1, 1)
		if err != nil {
			return err
		}
		if len(last) == 0 || last[0].Seq != after {
			return api.NoRow(strconv.FormatInt(after, 10))
		}
	}
	entries, err := g.cfg.Home.Threads.Entries(ctx, id, after, rows+1)
	if err != nil {
		return err
	}
	return v.OK(api.Paged(entries, rows, sequence))
}

// sequence is the cursor of an entry.
func sequence(e chela.Entry) string { return strconv.FormatInt(e.Seq, 10) }
