package gateway

// This part of the package holds the routes of the documents of agents,
// /api/memory.

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
	"chela/internal/surface/gateway/edge"
)

// DocumentAPI is the interface that the routes need.
type DocumentAPI struct {
	Documents documents
	Edit      func(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

type documents interface {
	// Version returns a document at a version; 0 is the current one.
	Version(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	// History returns the stored versions, newest first, without texts.
	History(ctx context.Context, agent, path string) ([]chela.Document, error)
	// Tree returns the contents of a folder down to a depth; 0 is all of it.
	Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)
}

// documentRoutes returns the routes of a home.
func documentRoutes(h DocumentAPI) []edge.Route {
	agent := api.Parameter{Name: "agent", Summary: "whose it is; main without it", Check: "is=name"}
	path := api.Parameter{Name: "path", Summary: "the document, such as projects/house.md", Check: "is=document max=200", Required: true}
	key := api.Idempotency()
	version := api.After("a version", "min=1 max=2147483647")
	version.Type = schema.Integer
	return []edge.Route{
		documentRow(api.Route{
			Method: http.MethodGet, Path: "/api/memory/tree", Scope: chela.ScopeRead, Summary: "List documents and folders",
			Query: []api.Parameter{
				agent,
				{Name: "path", Summary: "a folder; everything without it", Check: "is=folder max=200"},
				{Name: "depth", Summary: "levels of folders; all without it", Type: schema.Integer, Check: "min=1 max=1000"},
				api.After("the path of a document or folder", "is=line min=1 max=256"), api.Limit(),
			},
			Answer: api.Page[chela.DocumentNode]{},
		}, h.tree),
		documentRow(api.Route{
			Method: http.MethodGet, Path: "/api/memory/doc", Scope: chela.ScopeRead, Summary: "Read a document",
			Query:  []api.Parameter{agent, path, {Name: "version", Summary: "as it was then; as it is without it", Type: schema.Integer, Check: "min=1 max=2147483647"}},
			Answer: chela.Document{},
		}, h.read),
		documentRow(api.Route{
			Method: http.MethodGet, Path: "/api/memory/versions", Scope: chela.ScopeRead,
			Summary: "List the versions that are kept of a document, the newest first",
			Query:   []api.Parameter{agent, path, version, api.Limit()}, Answer: api.Page[chela.Document]{},
		}, h.versions),
		documentRow(api.Route{
			Method: http.MethodPut, Path: "/api/memory/doc", Scope: chela.ScopeChat, Summary: "Write a document, or add to it",
			Headers: []api.Parameter{key}, Body: api.DocumentWrite{}, BodyType: api.JSON, Answer: chela.Document{},
		}, h.write),
		documentRow(api.Route{
			Method: http.MethodDelete, Path: "/api/memory/doc", Scope: chela.ScopeChat, Summary: "Delete a document; its versions are kept",
			Query: []api.Parameter{agent, path}, Headers: []api.Parameter{key}, Answer: chela.Document{},
		}, h.remove),
	}
}

// documentRow returns a route that answers with JSON.
func documentRow(r api.Route, serve func(*edge.Visit) error) edge.Route {
	r.AnswerType, r.Status = api.JSON, http.StatusOK
	return edge.Route{Route: r, Limit: api.MaxBody, Serve: serve}
}

// agentOf returns the agent of a request.
func agentOf(v *edge.Visit) string { return cmp.Or(v.Query.Get("agent"), chela.MainAgent) }

func (h DocumentAPI) tree(v *edge.Visit) error {
	nodes, err := h.Documents.Tree(v.Request.Context(), agentOf(v), v.Query.Get("path"), int(v.Number("depth", 0)))
	return edge.List(v, nodes, err, func(n chela.DocumentNode) string { return n.Path })
}

func (h DocumentAPI) read(v *edge.Visit) error {
	d, err := h.Documents.Version(v.Request.Context(), agentOf(v), v.Query.Get("path"), v.Number("version", 0))
	if err != nil {
		return err
	}
	return v.OK(d)
}

func (h DocumentAPI) versions(v *edge.Visit) error {
	versions, err := h.Documents.History(v.Request.Context(), agentOf(v), v.Query.Get("path"))
	return edge.List(v, versions, err, func(d chela.Document) string { return strconv.FormatInt(d.Version, 10) })
}

func (h DocumentAPI) write(v *edge.Visit) error {
	var asked api.DocumentWrite
	if err := v.Decode(&asked); err != nil {
		return err
	}
	e := chela.DocumentEdit{
		Kind: chela.EditWrite, Agent: cmp.Or(asked.Agent, chela.MainAgent), Path: asked.Path, Text: asked.Text, Expect: asked.Expect,
	}
	if asked.Append {
		e.Kind = chela.EditAppend
	}
	return h.edit(v, e)
}

func (h DocumentAPI) remove(v *edge.Visit) error {
	return h.edit(v, chela.DocumentEdit{Kind: chela.EditDelete, Agent: agentOf(v), Path: v.Query.Get("path")})
}

// edit makes an edit in the name of the caller. The same key of two tokens
// names two edits.
func (h DocumentAPI) edit(v *edge.Visit, e chela.DocumentEdit) error {
	e.Key = v.ID
	if given := v.Request.Header.Get(api.MessageIDHeader); given != "" {
		e.Key = string(v.By.Token.ID) + " " + given
	}
	e.Author = chela.Author{By: v.Who()}
	d, err := h.Edit(v.Request.Context(), e)
	if err != nil {
		return err
	}
	d.Text = ""
	return v.OK(d)
}
