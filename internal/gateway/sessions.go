package gateway

import (
	"cmp"
	"net/http"
	"strconv"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

func (g *Gateway) getSessions(v *edge.Visit) error {
	limit, err := v.Rows()
	if err != nil {
		return err
	}
	archived, err := v.Flag("archived")
	if err != nil {
		return err
	}
	sessions, err := g.cfg.Home.Sessions.Sessions(v.Request.Context(), chela.SessionKey(v.Query.Get("after")), limit+1, archived)
	if err != nil {
		return err
	}
	return v.OK(edge.Page(sessions, limit, func(s chela.Session) string { return string(s.Key) }))
}

func (g *Gateway) getSession(v *edge.Visit) error {
	key, err := keyOf(v)
	if err != nil {
		return err
	}
	s, err := g.cfg.Home.Sessions.Session(v.Request.Context(), key)
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
	key, err := keyOf(v)
	if err != nil {
		return err
	}
	s, err := g.cfg.Home.Keeper.Change(v.Request.Context(), key, p)
	return found(v, s, err)
}

func (g *Gateway) resetSession(v *edge.Visit) error {
	key, err := keyOf(v)
	if err != nil {
		return err
	}
	t, err := g.cfg.Home.Keeper.Begin(v.Request.Context(), key, "")
	return found(v, t, err)
}

func (g *Gateway) getThreads(v *edge.Visit) error {
	key := chela.SessionKey(cmp.Or(v.Query.Get("session"), string(chela.MainKey(chela.MainAgent))))
	if _, err := chela.ParseSessionKey(key); err != nil {
		return err
	}
	threads, err := g.cfg.Home.Threads.Threads(v.Request.Context(), key)
	return listed(v, threads, err)
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

func (g *Gateway) getThread(v *edge.Visit) error {
	t, err := g.cfg.Home.Threads.Thread(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")))
	if err != nil {
		return err
	}
	places, err := g.cfg.Home.Rewinds.Places(v.Request.Context(), t.ID)
	return found(v, api.Thread{Thread: t, Places: places}, err)
}

func (g *Gateway) getPrompt(v *edge.Visit) error {
	size, err := g.cfg.Home.Prompt(v.Request.Context(), chela.ThreadID(v.Request.PathValue("id")))
	return found(v, size, err)
}

func (g *Gateway) getEntries(v *edge.Visit) error {
	id, ctx := chela.ThreadID(v.Request.PathValue("id")), v.Request.Context()
	path, err := v.Flag("path")
	if err != nil {
		return err
	}
	if path {
		entries, err := g.cfg.Home.Threads.Path(ctx, id)
		return listed(v, entries, err)
	}
	limit, err := v.Rows()
	if err != nil {
		return err
	}
	after, err := v.Number("after", 0, 1<<62)
	if err != nil {
		return err
	}
	entries, err := g.cfg.Home.Threads.Entries(ctx, id, after, limit+1)
	if err != nil {
		return err
	}
	return v.OK(edge.Page(entries, limit, func(e chela.Entry) string { return strconv.FormatInt(e.Seq, 10) }))
}
