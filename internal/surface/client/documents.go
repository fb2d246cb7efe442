package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"chela"
	"chela/internal/api"
)

// Documents are the documents of the agents of a home.
type Documents struct{ client *Client }

// Documents returns the documents of the home.
func (c *Client) Documents() Documents { return Documents{c} }

// Version returns a document at a version; 0 is the current one.
func (d Documents) Version(ctx context.Context, agent, path string, version int64) (doc chela.Document, err error) {
	query := url.Values{"agent": {agent}, "path": {path}}
	if version != 0 {
		query.Set("version", strconv.FormatInt(version, 10))
	}
	err = d.client.do(ctx, request{path: []string{"api", "memory", "doc"}, query: query, limit: answerTime}, &doc)
	return doc, err
}

// History returns the stored versions of a document, newest first, without
// their texts.
func (d Documents) History(ctx context.Context, agent, path string) ([]chela.Document, error) {
	return list[chela.Document](ctx, d.client, url.Values{"agent": {agent}, "path": {path}}, "api", "memory", "versions")
}

// Tree returns the contents of a folder down to a depth; 0 is all of it.
func (d Documents) Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error) {
	query := url.Values{"agent": {agent}, "path": {folder}}
	if depth > 0 {
		query.Set("depth", strconv.Itoa(depth))
	}
	return list[chela.DocumentNode](ctx, d.client, query, "api", "memory", "tree")
}

// Edit makes a new version of a document. The daemon sets its key, and the
// author is the principal of this client.
func (d Documents) Edit(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	r := request{method: http.MethodPut, path: []string{"api", "memory", "doc"}, limit: answerTime}
	switch e.Kind {
	case chela.EditDelete:
		r.method, r.query = http.MethodDelete, url.Values{"agent": {e.Agent}, "path": {e.Path}}
	default:
		r.body = api.DocumentWrite{
			Agent: e.Agent, Path: e.Path, Text: e.Text, Append: e.Kind == chela.EditAppend, Expect: e.Expect,
		}
	}
	return answered[chela.Document](ctx, d.client, r)
}
