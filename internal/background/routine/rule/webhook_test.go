package rule_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chela"
	"chela/internal/background/routine/rule"
)

// pullRequest is a request as GitHub sends it.
func pullRequest() rule.WebhookRequest {
	return rule.WebhookRequest{
		Query:  url.Values{"team": {"a", "b"}},
		Header: http.Header{"X-Github-Event": {"pull_request"}, "X-Github-Delivery": {"72d3162e"}, "X-Team": {"core\n platform"}},
		Body:   []byte(`{"action":"opened","number":17,"draft":false,"labels":[{"name":"bug"}],"milestone":null}`),
	}
}

// TestInput shows the run the headers that name the event, or the chosen ones, the
// query and the body.
func TestInput(t *testing.T) {
	t.Parallel()
	r := pullRequest()
	body := "\n\n" + string(r.Body)
	query := "\nquery team: a\nquery team: b"
	for want, headers := range map[string][]string{
		"X-GitHub-Event: pull_request" + query + body:                       nil,
		"X-Team: core platform" + query + body:                              {"X-Team", "X-None"},
		"X-Team: core platform\nx-github-delivery: 72d3162e" + query + body: {"X-Team", "x-github-delivery"},
	} {
		if got := r.Input(chela.Trigger{Headers: headers}); got != want {
			t.Errorf("with %v:\n%s\nwant\n%s", headers, got, want)
		}
	}
	if got := (rule.WebhookRequest{Body: []byte("a\xff")}).Input(chela.Trigger{}); got != "a\ufffd" {
		t.Errorf("without headers: %q", got)
	}
	long := rule.WebhookRequest{Header: http.Header{"X-Gitlab-Event": {strings.Repeat("é", 400)}}}
	if got := long.Input(chela.Trigger{}); len(got) > 520 || !strings.HasPrefix(got, "X-Gitlab-Event: éé") {
		t.Errorf("a long header: %d bytes", len(got))
	}
}

// TestMismatch compares values of the body, the headers and the query.
func TestMismatch(t *testing.T) {
	t.Parallel()
	form := rule.WebhookRequest{Body: []byte("command=%2Fdeploy&text=")}
	for filter, want := range map[string]string{
		"body.action=opened": "", "body.number=17": "", "body.draft=false": "", "body.labels.0.name=bug": "", "body.milestone=null": "",
		"header.x-github-event=pull_request": "", "query.team=a": "",
		"body.action=closed":   `body.action is "opened", not "closed"`,
		"body.labels.1.name=x": "it has no body.labels.1.name", "body.labels.-1=x": "it has no body.labels.-1", "body.labels.a=x": "it has no body.labels.a",
		"body.labels=x": "it has no body.labels", "body.number.x=1": "it has no body.number.x", "body.none=": "it has no body.none",
		"header.X-None=": "it has no header.X-None", "query.none=": "it has no query.none",
	} {
		name, value, _ := strings.Cut(filter, "=")
		if got := pullRequest().Mismatch(chela.Trigger{Match: map[string]string{name: value}}); got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
	both := chela.Trigger{Match: map[string]string{"body.action": "opened", "query.team": "b"}}
	if got := pullRequest().Mismatch(both); got != `query.team is "a", not "b"` {
		t.Errorf("one of two differs: %q", got)
	}
	for filter, want := range map[string]string{"body.command=/deploy": "", "body.text=": "", "body.user=x": "it has no body.user"} {
		name, value, _ := strings.Cut(filter, "=")
		if got := form.Mismatch(chela.Trigger{Match: map[string]string{name: value}}); got != want {
			t.Errorf("form, %s: %q, want %q", filter, got, want)
		}
	}
	curl := pullRequest()
	curl.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := curl.Mismatch(chela.Trigger{Match: map[string]string{"body.action": "opened"}}); got != "" {
		t.Errorf("JSON that is called a form: %q", got)
	}
	if got := (rule.WebhookRequest{Body: []byte("not JSON")}).Mismatch(chela.Trigger{Match: map[string]string{"body.a": "b"}}); got != "it has no body.a" {
		t.Errorf("not JSON: %q", got)
	}
}

// TestPartsOfRequests refuses filters that name nothing, and headers with credentials.
func TestPartsOfRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		match   string
		headers []string
		fits    bool
	}{
		{"body.action", []string{"X-Team"}, true},
		{"header.X-Team", nil, true},
		{"query.a", nil, true},
		{"action", nil, false},
		{"body.", nil, false},
		{"cookie.a", nil, false},
		{"body.a", []string{"X-Team", "authorization"}, false},
		{"body.a", []string{"X-Gitlab-Token"}, false},
	} {
		v := chela.Routine{
			Name: "a", Agent: "main", Action: chela.RoutineAction{Kind: chela.ActionNotify, Text: "x"},
			Trigger: chela.Trigger{
				Kind: chela.TriggerWebhook, Path: "a", Scheme: "github", Secret: "env:A", Match: map[string]string{tt.match: "x"}, Headers: tt.headers,
			},
		}
		if err := rule.Check(v, nil); (err == nil) != tt.fits || err != nil && chela.KindOf(err) != chela.Invalid {
			t.Errorf("%s, %v: %v", tt.match, tt.headers, err)
		}
	}
}
