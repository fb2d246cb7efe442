package gateway_test

import (
	"context"
	"net/http"
	"testing"

	"chela"
	"chela/internal/api"
)

// outside is a text of the home of a test that came from outside.
var outside = api.LabelledText{
	Kind: chela.TextDocument, Agent: "main", Name: "a.md", Version: "1", Text: "buy milk",
	Provenance: chela.Provenance{Integrity: chela.IntegrityOutside, Source: "https://page.example"},
}

// trust are the operations on texts from outside: there is one.
func (h *home) trust() []api.Bound {
	return []api.Bound{
		api.TrustList.Do(func(_ context.Context, _ api.Caller, q api.TrustQuery) (api.Page[api.LabelledText], error) {
			listed := outside
			listed.Text = ""
			return api.Cut([]api.LabelledText{listed}, q.After, q.Limit, func(t api.LabelledText) string { return t.Name })
		}),
		api.TrustShow.Do(func(_ context.Context, _ api.Caller, q api.TextRef) (api.LabelledText, error) {
			if q.Kind != outside.Kind || q.Name != outside.Name {
				return api.LabelledText{}, chela.E(chela.NotFound, "there is no "+string(q.Kind)+" "+q.Name)
			}
			return outside, nil
		}),
		api.TrustVouch.Do(func(_ context.Context, c api.Caller, q api.VouchRequest) (chela.Vouch, error) {
			if q.Vouch.Version != outside.Version {
				return chela.Vouch{}, chela.E(chela.Conflict, "it has changed")
			}
			return chela.Vouch{ID: "vch_1", Kind: q.Kind, Agent: "main", Name: q.Vouch.Name, Version: q.Vouch.Version, Provenance: outside.Provenance, By: c.By}, nil
		}),
		api.TrustVouches.Do(func(context.Context, api.Caller, api.VouchesQuery) (api.Page[chela.Vouch], error) {
			return api.Page[chela.Vouch]{Items: []chela.Vouch{}}, nil
		}),
	}
}

// TestTrust reads a text and vouches for the version that was read, as its token may.
func TestTrust(t *testing.T) {
	t.Parallel()
	d := run(t)
	shown := decoded[api.LabelledText](t, d.do(t, call{path: "/api/trust/document?name=a.md", secret: readSecret}), http.StatusOK)
	if shown != outside {
		t.Errorf("shown was %+v", shown)
	}
	d.do(t, call{path: "/api/trust/file?name=a.md", secret: readSecret}).refused(t, http.StatusNotFound, chela.NotFound)
	d.do(t, call{path: "/api/trust/web?name=a.md", secret: readSecret}).refused(t, http.StatusNotFound, chela.NotFound)
	vouch := call{path: "/api/trust/document", secret: adminSecret, body: `{"name":"a.md","version":"1"}`}
	if v := decoded[chela.Vouch](t, d.do(t, vouch), http.StatusOK); v.Version != "1" || v.By == "" || v.Provenance != outside.Provenance {
		t.Errorf("vouched %+v", v)
	}
	vouch.body = `{"name":"a.md","version":"2"}`
	d.do(t, vouch).refused(t, http.StatusConflict, chela.Conflict)
	vouch.secret = chatSecret
	d.do(t, vouch).refused(t, http.StatusForbidden, chela.Denied)
}
