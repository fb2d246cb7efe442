package memory

import (
	"cmp"
	"context"
	"strconv"

	"chela"
	"chela/internal/api"
)

// Operations binds the operations on documents.
func (ds *Documents) Operations() []api.Bound {
	return []api.Bound{
		api.DocumentsTree.Do(func(ctx context.Context, _ api.Caller, q api.DocumentTreeQuery) (api.Page[chela.DocumentNode], error) {
			nodes, err := ds.Tree(ctx, cmp.Or(q.Agent, chela.MainAgent), q.Path, q.Depth)
			if err != nil {
				return api.Page[chela.DocumentNode]{}, err
			}
			return api.Cut(nodes, q.After, q.Limit, func(n chela.DocumentNode) string { return n.Path })
		}),
		api.DocumentsShow.Do(func(ctx context.Context, _ api.Caller, q api.DocumentQuery) (chela.Document, error) {
			return ds.Version(ctx, cmp.Or(q.Agent, chela.MainAgent), q.Path, q.Version)
		}),
		api.DocumentsVersions.Do(ds.versions),
		api.DocumentsWrite.Do(func(ctx context.Context, c api.Caller, q api.DocumentWrite) (chela.Document, error) {
			e := chela.DocumentEdit{Kind: chela.EditWrite, Agent: q.Agent, Path: q.Path, Text: q.Text, Expect: q.Expect}
			if q.Append {
				e.Kind = chela.EditAppend
			}
			return ds.edit(ctx, c, e)
		}),
		api.DocumentsDelete.Do(func(ctx context.Context, c api.Caller, q api.DocumentRef) (chela.Document, error) {
			return ds.edit(ctx, c, chela.DocumentEdit{Kind: chela.EditDelete, Agent: q.Agent, Path: q.Path})
		}),
	}
}

func (ds *Documents) versions(ctx context.Context, _ api.Caller, q api.DocumentVersionsQuery) (page api.Page[chela.Document], _ error) {
	versions, err := ds.History(ctx, cmp.Or(q.Agent, chela.MainAgent), q.Path)
	if err != nil {
		return page, err
	}
	after := ""
	if q.Before > 0 {
		after = strconv.FormatInt(q.Before, 10)
	}
	return api.Cut(versions, after, q.Limit, func(d chela.Document) string { return strconv.FormatInt(d.Version, 10) })
}

// edit makes an edit in the name of a caller, and returns the new version without its
// text.
func (ds *Documents) edit(ctx context.Context, c api.Caller, e chela.DocumentEdit) (chela.Document, error) {
	e.Agent, e.Key, e.Author = cmp.Or(e.Agent, chela.MainAgent), c.Key, chela.Author{By: c.By}
	d, err := ds.Edit(ctx, e)
	d.Text = ""
	return d, err
}
