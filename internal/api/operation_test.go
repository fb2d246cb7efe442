package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// An input uses every place and type of a field.
type input struct {
	ref
	States []chela.JobState `query:"state" help:"only these"`
	Exact  bool             `query:"exact"`
	After  int              `query:"after" help:"the number of a row" check:"min=0"`
	Limit  int              `query:"limit"`
	Name   string           `query:"name,required" check:"is=line max=10"`
	Known  *string          `query:"known" check:"max=10"`
	WaitMS int64            `query:"wait_ms" help:"wait for the end"`
	Change change           `body:"optional"`
}

type ref struct {
	ID chela.JobID `path:"id"`
}

type change struct {
	Text string `json:"text" check:"max=5"`
}

var echo = api.Define[input, input]("things.echo", "POST /api/things/{id}/echo", chela.ScopeChat, "Return the input")

// TestInputsArrive sends inputs and compares what arrives.
func TestInputsArrive(t *testing.T) {
	t.Parallel()
	back := func(_ context.Context, _ api.Caller, in input) (input, error) { return in, nil }
	here := api.Local{Operations: []api.Bound{echo.Do(back)}}
	for _, in := range []input{
		{ref: ref{"job_1"}, Name: "x"},
		{ref{"a/b"}, []chela.JobState{chela.JobFailed, chela.JobPending}, true, 7, 3, "a b&c", new("x"), 50, change{"hi"}},
		{ref: ref{"job_1"}, Name: "x", Known: new("")},
	} {
		got, err := api.Call(t.Context(), here, echo, in)
		if diff := cmp.Diff(in, got, cmp.AllowUnexported(input{})); err != nil || diff != "" {
			t.Errorf("%v (-sent +arrived)\n%s", err, diff)
		}
	}
	if _, err := api.Call(t.Context(), here, api.JobsCancel, api.JobRef{ID: "job_1"}); chela.KindOf(err) != chela.Unsupported {
		t.Errorf("an operation that is not bound: %v", err)
	}
}

// TestRequestsHoldWhatIsSet compares requests with the values of inputs.
func TestRequestsHoldWhatIsSet(t *testing.T) {
	t.Parallel()
	r := echo.Request(input{ref: ref{"job_1"}, Limit: 3, Change: change{"hi"}})
	if diff := cmp.Diff(map[string]string{"id": "job_1"}, r.Values); diff != "" {
		t.Error(diff)
	}
	if got := r.Query.Encode(); got != "limit=3" {
		t.Errorf("the query is %q", got)
	}
	if wait, ok := r.Wait(); wait != 0 || !ok {
		t.Errorf("a request that does not wait waits %s, %t", wait, ok)
	}
	r = echo.Request(input{WaitMS: 1500, Known: new("")})
	if wait, ok := r.Wait(); wait != 1500*time.Millisecond || !ok || r.Query.Encode() != "known=&wait_ms=1500" {
		t.Errorf("a request that waits is %+v, %s, %t", r.Query, wait, ok)
	}
	if wait, ok := api.JobsShow.Request(api.JobRef{ID: "job_1"}).Wait(); wait != 0 || ok {
		t.Errorf("an operation that cannot wait waits %s, %t", wait, ok)
	}
	r = echo.Request(input{Change: change{"hi"}})
	if raw, _ := json.Marshal(r.Body); string(raw) != `{"text":"hi"}` {
		t.Errorf("the body is %s", raw)
	}
	if r := echo.Request(input{}); r.Body != nil {
		t.Errorf("an optional body that is zero is %v", r.Body)
	}
	if whole, ok := api.JobsCreate.Request(api.NewJob{Text: "bake"}).Body.(api.NewJob); !ok || whole.Text != "bake" {
		t.Errorf("an input without tags is sent as %v", whole)
	}
}

// TestLimitsAreCheckedBeforeSending: the error names the field.
func TestLimitsAreCheckedBeforeSending(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]input{
		"state": {States: []chela.JobState{"done"}}, "limit": {Limit: api.MaxPage + 1}, "after": {After: -1}, "name": {Name: "longer than ten"},
		"known": {Known: new("longer than ten")}, "wait_ms": {WaitMS: api.MaxWait + 1},
	} {
		if _, err := api.Call(t.Context(), api.Local{}, echo, in); chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRoutesFollowFromTags compares the description of an operation with its tags.
func TestRoutesFollowFromTags(t *testing.T) {
	t.Parallel()
	r := echo.Route()
	var names []string
	for _, p := range r.Query {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"state", "exact", "after", "limit", "name", "known", "wait_ms"}, names); diff != "" {
		t.Error(diff)
	}
	if state := r.Query[0]; !state.Many || !strings.Contains(state.Check, "words=pending|") {
		t.Errorf("the list of states is %+v", state)
	}
	if name := r.Query[4]; !name.Required {
		t.Errorf("the name is %+v", name)
	}
	if _, ok := r.Body.(change); !ok || !r.Optional || r.Status != http.StatusOK {
		t.Errorf("the route is %+v", r)
	}
	none := api.Define[ref, api.None]("things.remove", "DELETE /api/things/{id}", chela.ScopeChat, "Remove a thing").Route()
	if none.Status != http.StatusNoContent || none.Answer != nil || none.Body != nil {
		t.Errorf("an operation without an answer is %+v", none)
	}
	if headers := api.DocumentsWrite.Route().AllHeaders(); len(headers) != 1 || headers[0].Name != api.MessageIDHeader {
		t.Errorf("an operation with a key takes the headers %+v", headers)
	}
}

// TestOperationsAreWellFormed checks every definition: its names are unique, each
// wildcard has its field, and its limits can be read.
func TestOperationsAreWellFormed(t *testing.T) {
	t.Parallel()
	names, routes := map[string]bool{}, map[string]bool{}
	for _, o := range api.Operations() {
		r := o.Route()
		if at := o.Method + " " + o.Path; names[o.Name] || routes[at] || !r.Scope.Valid() {
			t.Errorf("%s, %s: not unique, or without a scope", o.Name, at)
		} else {
			names[o.Name], routes[at] = true, true
		}
		var wildcards []string
		for _, p := range r.Names() {
			wildcards = append(wildcards, p.Name)
		}
		if diff := cmp.Diff(wildcards, o.Wildcards()); diff != "" {
			t.Errorf("%s: wildcards (-of the path +of the input)\n%s", o.Name, diff)
		}
		for _, p := range r.Query {
			if _, err := p.Schema(); err != nil || p.Summary == "" {
				t.Errorf("%s: parameter %s: %q, %v", o.Name, p.Name, p.Summary, err)
			}
		}
	}
}

// TestKeysAreOfTheirTokens: two tokens that use one key make two requests.
func TestKeysAreOfTheirTokens(t *testing.T) {
	t.Parallel()
	token, owner := api.Caller{Key: "once", Account: "tok_1"}, api.Caller{}
	for want, got := range map[string]string{"once": token.KeyOf(""), "tok_1 k": token.KeyOf("k"), "k": owner.KeyOf("k")} {
		if got != want {
			t.Errorf("the key is %q, want %q", got, want)
		}
	}
}

func TestPagesEndOnce(t *testing.T) {
	t.Parallel()
	rows := []string{"a", "b", "c"}
	self := func(s string) string { return s }
	page, err := api.Cut(rows, "a", 1, self)
	if diff := cmp.Diff(api.Page[string]{Items: []string{"b"}, Next: "b"}, page); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := api.Cut(rows, "x", 1, self); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a page behind no row: %v", err)
	}
	list := api.Define[pages, api.Page[string]]("things.list", "GET /api/things", chela.ScopeRead, "List things")
	for name, serve := range map[string]func(context.Context, api.Caller, pages) (api.Page[string], error){
		"": func(_ context.Context, _ api.Caller, q pages) (api.Page[string], error) {
			return api.Cut(rows, q.After, q.Limit, self)
		},
		"own": func(context.Context, api.Caller, pages) (api.Page[string], error) {
			return api.Page[string]{Items: rows, Next: "c"}, nil
		},
	} {
		all, err := api.All(t.Context(), api.Local{Operations: []api.Bound{list.Do(serve)}}, list, pages{Limit: 2})
		if name == "" && (err != nil || cmp.Diff(rows, all) != "") || name != "" && chela.KindOf(err) != chela.Unsupported {
			t.Errorf("%q: %v, %v", name, all, err)
		}
	}
}

type pages struct {
	After string `query:"after" help:"the name of a thing"`
	Limit int    `query:"limit"`
}
