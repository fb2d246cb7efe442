package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// A shelf holds one document, a.md, of which edits only tell what was asked.
type shelf struct{}

func (shelf) Version(_ context.Context, agent, path string, version int64) (chela.Document, error) {
	if path != "a.md" {
		return chela.Document{}, chela.E(chela.NotFound, "there is no document "+path)
	}
	return chela.Document{
		Agent: agent, Path: path, CreatedAt: time.Unix(1, 0),
		DocumentVersion: chela.DocumentVersion{Version: max(version, 1), Text: "hello", Size: 5, SHA256: "00", Key: "k", WrittenAt: time.Unix(1, 0)},
	}, nil
}

func (s shelf) History(ctx context.Context, agent, path string) ([]chela.Document, error) {
	d, err := s.Version(ctx, agent, path, 2)
	return []chela.Document{d}, err
}

func (shelf) Tree(_ context.Context, _, folder string, depth int) ([]chela.DocumentNode, error) {
	if folder == "" && depth == 0 {
		return nil, nil
	}
	return []chela.DocumentNode{{Path: folder + "/", Documents: 1, Size: 5, WrittenAt: time.Unix(1, 0)}}, nil
}

func (s shelf) edit(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	d, err := s.Version(ctx, e.Agent, e.Path, 2)
	d.Key, d.Author, d.Text = e.Key, e.Author, string(e.Kind)+" "+e.Text
	return d, err
}

// TestEditsAreMadeInTheNameOfWhoeverAsks: an edit has a key that no other token
// can take, and the name of the token; its text does not come back.
func TestEditsAreMadeInTheNameOfWhoeverAsks(t *testing.T) {
	t.Parallel()
	d := run(t)
	body := `{"path":"a.md","text":"secret words"}`
	put := call{method: http.MethodPut, path: "/api/memory/doc", secret: chatSecret, body: body, header: map[string]string{api.MessageIDHeader: "mine"}}
	a := d.do(t, put)
	if a.status != http.StatusOK || strings.Contains(a.body, "secret words") ||
		!strings.Contains(a.body, `"key":"tok_chat mine"`) || !strings.Contains(a.body, `"by":"token chat (tok_chat)"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	put.header = nil
	if a := d.do(t, put); !strings.Contains(a.body, `"key":"req_`) {
		t.Errorf("without a key: %s", a.body)
	}
	for _, c := range []struct {
		call
		status int
	}{
		{call{method: http.MethodPut, path: "/api/memory/doc", secret: readSecret, body: body}, http.StatusForbidden},
		{call{method: http.MethodDelete, path: "/api/memory/doc?path=a.md", secret: readSecret}, http.StatusForbidden},
		{call{method: http.MethodGet, path: "/api/memory/doc?path=b.md", secret: readSecret}, http.StatusNotFound},
		{call{method: http.MethodGet, path: "/api/memory/doc?path=a.md&version=0", secret: readSecret}, http.StatusBadRequest},
		{call{method: http.MethodGet, path: "/api/memory/doc?path=a.md&version=x", secret: readSecret}, http.StatusBadRequest},
		{call{method: http.MethodGet, path: "/api/memory/versions?path=b.md", secret: readSecret}, http.StatusNotFound},
		{call{method: http.MethodGet, path: "/api/memory/tree?depth=x", secret: readSecret}, http.StatusBadRequest},
	} {
		if a := d.do(t, c.call); a.status != c.status {
			t.Errorf("%s %s is %d, want %d: %s", c.method, c.path, a.status, c.status, a.body)
		}
	}
	if a := d.do(t, call{method: http.MethodGet, path: "/api/memory/tree", secret: readSecret}); a.body != `{"items":[]}`+"\n" {
		t.Errorf("an empty tree is %q", a.body)
	}
}
