// Package documents holds the routes of the documents of agents, /api/memory.
package documents

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served.
type Home struct {
	Documents documents
	Edit      func(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

type documents interface {
	// Version returns a document as it was at a version; 0 is as it is.
	Version(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	// History returns the versions that are kept, newest first, without texts.
	History(ctx context.Context, agent, path string) ([]chela.Document, error)
	// Tree returns what is below a folder down to a depth; 0 is all of it.
	Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)
}

// Routes returns the routes of a home.
func Routes(h Home) []edge.Route {
	agent := api.Parameter{Name: "agent", Summary: "whose it is; main without it", Sample: ""}
	path := api.Parameter{Name: "path", Summary: "the document, such as projects/house.md", Sample: ""}
	key := api.Parameter{Name: api.MessageIDHeader, Summary: "names the edit, so that it can be sent again", Sample: ""}
	return []edge.Route{
		row(api.Route{
			Method: http.MethodGet, Path: "/api/memory/tree", Scope: chela.ScopeRead, Summary: "List documents and folders",
			Query: []api.Parameter{
				agent,
				{Name: "path", Summary: "a folder; everything without it", Sample: ""},
				{Name: "depth", Summary: "levels of folders; all without it", Sample: 0},
			},
			Answer: api.Page[chela.DocumentNode]{},
		}, h.tree),
		row(api.Route{
			Method: http.MethodGet, Path: "/api/memory/doc", Scope: chela.ScopeRead, Summary: "Read a document",
			Query:  []api.Parameter{agent, path, {Name: "version", Summary: "as it was then; as it is without it", Sample: 0}},
			Answer: chela.Document{},
		}, h.read),
		row(api.Route{
			Method: http.MethodGet, Path: "/api/memory/versions", Scope: chela.ScopeRead,
			Summary: "List the versions that are kept of a document, the newest first",
			Query:   []api.Parameter{agent, path}, Answer: api.Page[chela.Document]{},
		}, h.versions),
		row(api.Route{
			Method: http.MethodPut, Path: "/api/memory/doc", Scope: chela.ScopeChat, Summary: "Write a document, or add to it",
			Headers: []api.Parameter{key}, Body: api.DocumentWrite{}, BodyType: api.JSON, Answer: chela.Document{},
		}, h.write),
		row(api.Route{
			Method: http.MethodDelete, Path: "/api/memory/doc", Scope: chela.ScopeChat, Summary: "Delete a document; its versions are kept",
			Query: []api.Parameter{agent, path}, Headers: []api.Parameter{key}, Answer: chela.Document{},
		}, h.remove),
	}
}

// row returns a route that answers with JSON.
func row(r api.Route, serve func(*edge.Visit) error) edge.Route {
	r.AnswerType, r.Status = api.JSON, http.StatusOK
	return edge.Route{Route: r, Limit: api.MaxBody, Serve: serve}
}

// agentOf returns whose documents a request is about.
func agentOf(v *edge.Visit) string { return cmp.Or(v.Query.Get("agent"), chela.MainAgent) }

func (h Home) tree(v *edge.Visit) error {
	depth, err := v.Number("depth", 0, 1000)
	if err != nil {
		return err
	}
	nodes, err := h.Documents.Tree(v.Request.Context(), agentOf(v), v.Query.Get("path"), int(depth))
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.DocumentNode]{Items: append([]chela.DocumentNode{}, nodes...)})
}

func (h Home) read(v *edge.Visit) error {
	version := int64(0)
	if given := v.Query.Get("version"); given != "" {
		var err error
		if version, err = strconv.ParseInt(given, 10, 64); err != nil || version < 1 {
			return chela.E(chela.Invalid, fmt.Sprintf("parameter version is %.40q, not a number from 1", given))
		}
	}
	d, err := h.Documents.Version(v.Request.Context(), agentOf(v), v.Query.Get("path"), version)
	if err != nil {
		return err
	}
	return v.OK(d)
}

func (h Home) versions(v *edge.Visit) error {
	versions, err := h.Documents.History(v.Request.Context(), agentOf(v), v.Query.Get("path"))
	if err != nil {
		return err
	}
	return v.OK(api.Page[chela.Document]{Items: versions})
}

func (h Home) write(v *edge.Visit) error {
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

func (h Home) remove(v *edge.Visit) error {
	return h.edit(v, chela.DocumentEdit{Kind: chela.EditDelete, Agent: agentOf(v), Path: v.Query.Get("path")})
}

// edit makes an edit in the name of whoever asks. The same key of two tokens
// names two edits.
func (h Home) edit(v *edge.Visit, e chela.DocumentEdit) error {
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
