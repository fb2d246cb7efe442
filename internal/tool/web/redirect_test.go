package web_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chela"
)

// ruled says what the policy of a test says about redirects.
func ruled(v chela.Verdict) func(context.Context, chela.Judgement) (chela.Verdict, error) {
	return func(context.Context, chela.Judgement) (chela.Verdict, error) { return v, nil }
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s arrived with %v", r.Method, slices.Sorted(maps.Keys(r.Header)))
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/go", "/go":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		case "/v1/loop":
			http.Redirect(w, r, "/v1/loop", http.StatusFound)
		default:
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
	})
	// Every hop of the way is judged: the last one leads back to the first host.
	back := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.URL+"/v1/end", http.StatusFound) })
	headers := args{"Authorization": "Bearer k", "Cookie": "c=1", "X-Api-Key": "k", "Accept": "text/x", "Content-Type": "x/y"}
	for _, tt := range []struct {
		name, method, path, to string
		rule                   chela.Verdict
		want                   string // the beginning of the result
	}{
		{"within what was granted", "GET", "/v1/go", "/v1/end", chela.Ask, "200 OK\n(redirected to " + s.URL + "/v1/end)"},
		{"with the headers of the call", "GET", "/v1/go", "/v1/end", chela.Ask, "200 OK|GET /v1/end Bearer k"},
		{"within, though denied", "GET", "/v1/go", "/v1/end", chela.Deny, "307 Temporary Redirect|" + s.URL + "/v1/end was not followed"},
		{"to another path", "GET", "/v1/go", "/admin", chela.Ask, "307 Temporary Redirect|" + s.URL + "/admin was not followed"},
		{"to another path in disguise", "GET", "/v1/go", "/v1/%2e%2e/admin", chela.Ask, "307 Temporary Redirect|" + s.URL + "/admin was not followed"},
		{"to an escaped slash", "GET", "/v1/go", "/v1/..%2fadmin", chela.Ask, "307 Temporary Redirect|/v1/..%2Fadmin was not followed"},
		{"to another path, allowed", "GET", "/v1/go", "/admin", chela.Allow, "200 OK|GET /admin Bearer k"},
		{"from the root", "GET", "/go", "/admin", chela.Ask, "200 OK|GET /admin Bearer k"},
		{"to another host", "GET", "/go", other.URL, chela.Ask, "307 Temporary Redirect|" + other.URL + "/ was not followed"},
		{"to another host, denied", "GET", "/go", other.URL, chela.Deny, "307 Temporary Redirect|was not followed"},
		{"to another host, allowed", "GET", "/go", other.URL, chela.Allow, "200 OK|GET arrived with [Accept-Encoding Connection User-Agent]"},
		{"away and back, allowed", "GET", "/v1/go", back.URL, chela.Allow, "200 OK\n(redirected to " + s.URL + "/v1/end)|GET /v1/end "},
		{"a POST to another host", "POST", "/go", other.URL, chela.Allow, "307 Temporary Redirect|was not followed"},
		{"a POST to another path", "POST", "/go", "/v1/end", chela.Ask, "307 Temporary Redirect|was not followed"},
		{"a POST to another path, allowed", "POST", "/go", "/v1/end", chela.Allow, "200 OK|POST /v1/end Bearer k"},
		{"in circles", "GET", "/v1/loop", "", chela.Ask, "the redirect cannot be followed: there are more than 10 redirects"},
		{"to a file", "GET", "/go", "file:///etc/passwd", chela.Allow, "the redirect cannot be followed: url: only http and https"},
		{"to a mail server", "GET", "/go", "http://127.0.0.1:25/", chela.Allow, "the redirect cannot be followed: url: port 25"},
		{"to a private address", "GET", "/go", "http://10.0.0.1/", chela.Allow, "10.0.0.1 is not a public address"},
		{"to a private address in disguise", "GET", "/go", "http://0xa.1/", chela.Allow, "the redirect cannot be followed: url: \"0xa.1\" is an address"},
		{"with a password", "GET", "/go", "http://me:pw@127.0.0.1/", chela.Allow, "the redirect cannot be followed: url: a name or password"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, c := checked(t, loopback, args{
				"method": tt.method, "url": s.URL + tt.path + "?to=" + url.QueryEscape(tt.to), "headers": headers,
			})
			c.Rule = ruled(tt.rule)
			res, err := run(t.Context(), f, c)
			begin, contains, _ := strings.Cut(tt.want, "|")
			if err != nil || !strings.HasPrefix(res.Text, begin) || !strings.Contains(res.Text, contains) {
				t.Errorf("got %q, %v; want %q", res.Text, err, tt.want)
			}
			if tt.name == "away and back, allowed" && strings.Contains(res.Text, "Bearer") {
				t.Error("the header came back to its host by way of another")
			}
		})
	}
	if res := call(t, loopback, args{"url": s.URL + "/go?to=" + url.QueryEscape(other.URL)}); !strings.Contains(res.Text, "was not followed") {
		t.Errorf("without a policy: %q", res.Text)
	}
}
