package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// visit sends a request without a body.
func visit(h http.Handler, method, path, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("X-Token", token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A told response is what a test compares of one.
type told struct {
	ID, Status string
	Output     []struct {
		Type, Name string
		CallID     string `json:"call_id"`
		Content    []struct{ Text string }
	}
	Text      struct{ Format struct{ Type, Name string } }
	MaxOutput int `json:"max_output_tokens"`
	Error     *struct{ Code, Message string }
	Usage     *struct {
		Total int `json:"total_tokens"`
	}
}

func toldBy(t *testing.T, w *httptest.ResponseRecorder) (r told) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusOK {
		t.Fatalf("answered %d (%v): %s", w.Code, err, w.Body)
	}
	return r
}

// TestResponsesAreReadAgain reads responses of one turn, which waited for results in
// between, as they were given.
func TestResponsesAreReadAgain(t *testing.T) {
	t.Parallel()
	offered := step{say: []string{"Let me look."}, offered: []chela.CallSpec{{Tool: "weather", Args: json.RawMessage(`{}`)}}, usage: chela.TokenUsage{Output: 2}}
	h := setup(newHome(offered, step{say: []string{"Mild."}, usage: chela.TokenUsage{Output: 3}}), &shelf{})
	const more = `,"max_output_tokens":70,"text":{"format":{"type":"json_schema","name":"city","schema":{"type":"object"}}}`
	first := toldBy(t, post(h, responses, `{"model":"chela","input":"x","tools":[{"type":"function","name":"weather"}]`+more+`}`))
	call := first.Output[1].CallID
	second := toldBy(t, post(h, responses, `{"model":"chela","previous_response_id":"`+first.ID+`","input":[{"type":"function_call_output","call_id":"`+call+`","output":"mild"}]`+more+`}`))
	if first.ID == second.ID || second.Output[0].Content[0].Text != "Mild." {
		t.Fatalf("answered %+v and %+v", first, second)
	}
	for _, want := range []told{first, second} {
		got := toldBy(t, visit(h, http.MethodGet, responses+"/"+want.ID, "tok_1"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("response (-first +again):\n%s", diff)
		}
	}
}

// TestResponsesBeforeAnApprovalAreReadAgain reads what was said before a question.
func TestResponsesBeforeAnApprovalAreReadAgain(t *testing.T) {
	t.Parallel()
	h := setup(newHome(step{say: []string{"I will delete."}, ask: "shell"}, said("Done.")), &shelf{})
	first := toldBy(t, post(h, responses, `{"model":"chela","input":"x"}`))
	second := toldBy(t, post(h, responses, `{"model":"chela","previous_response_id":"`+first.ID+`","input":"yes"}`))
	for id, want := range map[string]string{first.ID: "I will delete.", second.ID: "Done."} {
		if got := toldBy(t, visit(h, http.MethodGet, responses+"/"+id, "tok_1")); got.ID != id || got.Output[0].Content[0].Text != want {
			t.Errorf("response is %+v, want %q", got, want)
		}
	}
}

// TestFailedResponsesAreReadAgain tells why a turn failed.
func TestFailedResponsesAreReadAgain(t *testing.T) {
	t.Parallel()
	home := newHome(step{say: []string{"a"}}, step{fail: &chela.Failure{Kind: chela.Unavailable, Message: "no luck"}})
	h := setup(home, &shelf{})
	id := toldBy(t, post(h, responses, `{"model":"chela","input":"x"}`)).ID
	for _, trace := range home.turns {
		trace.Turn.State, trace.Turn.Failure = chela.TurnFailed, &chela.Failure{Kind: chela.Unavailable, Message: "no luck"}
	}
	got := toldBy(t, visit(h, http.MethodGet, responses+"/"+id, "tok_1"))
	if got.Status != "failed" || got.Error == nil || got.Error.Message != "no luck" {
		t.Errorf("response is %+v", got)
	}
}

// TestDeletedResponses are gone for all that names them; others of the thread stay.
func TestDeletedResponses(t *testing.T) {
	t.Parallel()
	h := setup(newHome(said("one"), said("two"), said("three")), &shelf{})
	first := toldBy(t, post(h, responses, `{"model":"chela","input":"x"}`)).ID
	second := toldBy(t, post(h, responses, `{"model":"chela","input":"x","previous_response_id":"`+first+`"}`)).ID
	missing := func(w *httptest.ResponseRecorder) {
		t.Helper()
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "there is no response") {
			t.Errorf("answered %d: %s", w.Code, w.Body)
		}
	}
	missing(visit(h, http.MethodDelete, responses+"/"+first, "tok_2"))
	missing(visit(h, http.MethodGet, responses+"/"+first, "tok_2"))
	missing(visit(h, http.MethodGet, responses+"/"+first[:len(first)-8]+"00000000", "tok_1"))
	missing(visit(h, http.MethodGet, responses+"/resp_none", "tok_1"))
	if w := visit(h, http.MethodDelete, responses+"/"+first, "tok_1"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"deleted":true`) {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	missing(visit(h, http.MethodDelete, responses+"/"+first, "tok_1"))
	missing(visit(h, http.MethodGet, responses+"/"+first, "tok_1"))
	missing(post(h, responses, `{"model":"chela","input":"x","previous_response_id":"`+first+`"}`))
	if got := toldBy(t, visit(h, http.MethodGet, responses+"/"+second, "tok_1")); got.Output[0].Content[0].Text != "two" {
		t.Errorf("response is %+v", got)
	}
	toldBy(t, post(h, responses, `{"model":"chela","input":"x","previous_response_id":"`+second+`"}`))
}
