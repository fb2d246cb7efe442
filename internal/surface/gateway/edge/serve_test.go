package edge_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// A lockedLog is a log that several goroutines write to.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written.
func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// config is that of a server to which every secret is a token of the same name
// with all rights.
func config(log io.Writer) edge.Config {
	return edge.Config{
		IDs: chela.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
		Tokens: recognize(func(by edge.Asker) (edge.Asker, error) {
			by.Token = chela.Token{ID: chela.TokenID(by.Secret), Name: by.Secret, Scope: chela.ScopeAdmin}
			return by, nil
		}),
	}
}

// recognize resolves the secret or the cookie of an asker.
type recognize func(by edge.Asker) (edge.Asker, error)

func (r recognize) Authenticate(_ context.Context, secret string) (chela.Token, error) {
	by, err := r(edge.Asker{Secret: secret})
	return by.Token, err
}

func (r recognize) LoggedIn(_ context.Context, cookie string) (chela.Token, api.LoginState, error) {
	by, err := r(edge.Asker{Cookie: cookie})
	return by.Token, by.Login, err
}

// serve serves routes over TCP until t ends, and returns the address.
func serve(t *testing.T, cfg edge.Config, routes ...edge.Route) string {
	t.Helper()
	s, err := edge.New(cfg, routes)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// route is one that a token may ask for without a body.
func route(method, path string, serve func(*edge.Visit) error) edge.Route {
	return edge.Route{Route: api.Route{Method: method, Path: path, Scope: chela.ScopeRead}, Serve: serve}
}

// A reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

// do makes a request with a token and headers, given as pairs.
func do(t *testing.T, method, url string, header ...string) reply {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer ann")
	for i := 0; i < len(header); i += 2 {
		q.Header.Add(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

// TestStatusOfAnswers: the first status counts, and bytes without one are 200.
func TestStatusOfAnswers(t *testing.T) {
	t.Parallel()
	url := serve(t, config(io.Discard),
		route(http.MethodGet, "/bytes", func(v *edge.Visit) error {
			_, err := v.Write([]byte("hello"))
			return err
		}),
		route(http.MethodGet, "/late", func(v *edge.Visit) error {
			if _, err := v.Write([]byte("hello")); err != nil {
				return err
			}
			return chela.E(chela.NotFound, "it is not there") // nothing can be told any more
		}),
		route(http.MethodGet, "/refused", func(*edge.Visit) error { return chela.E(chela.NotFound, "it is not there") }),
		route(http.MethodGet, "/media", func(v *edge.Visit) error { return v.Send(http.StatusCreated, "text/x-test", []byte("hello")) }),
		route(http.MethodGet, "/nothing", func(v *edge.Visit) error { return v.Nothing() }),
	)
	for path, want := range map[string]reply{
		"/bytes": {status: 200, body: "hello"}, "/late": {status: 200, body: "hello"}, "/media": {status: 201, body: "hello"}, "/nothing": {status: 204},
	} {
		if got := do(t, http.MethodGet, url+path); got.status != want.status || got.body != want.body {
			t.Errorf("%s: %d %q, want %d %q", path, got.status, got.body, want.status, want.body)
		}
	}
	if got := do(t, http.MethodGet, url+"/refused"); got.status != http.StatusNotFound || !strings.Contains(got.body, "it is not there") {
		t.Errorf("refused: %d %s", got.status, got.body)
	}
	if got := do(t, http.MethodGet, url+"/media").header.Get("Content-Type"); got != "text/x-test" {
		t.Errorf("the media type is %q", got)
	}
}

// TestWhoMayAsk tries what clients show to be let in.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	cfg := config(io.Discard)
	cfg.Tokens = recognize(func(by edge.Asker) (edge.Asker, error) {
		switch by.Secret + by.Cookie {
		case "ann", "page":
			by.Token.Scope, by.Login.CSRF = chela.ScopeRead, "csrf"
			return by, nil
		case "plain page":
			by.Token.Scope = chela.ScopeRead
			return by, nil
		}
		return by, chela.E(chela.Denied, "not known")
	})
	answer := func(v *edge.Visit) error { return v.OK("hello") }
	url := serve(t, cfg, route(http.MethodGet, "/x", answer), route(http.MethodPost, "/x", answer))
	host := strings.TrimPrefix(url, "http://")
	const cookie, page = "Cookie", api.CookieName + "=page"
	for _, c := range []struct {
		name   string
		method string
		header []string
		want   int
	}{
		{"a token", "GET", []string{"Authorization", "Bearer ann"}, 200},
		{"in lower case", "GET", []string{"Authorization", "bearer ann"}, 200},
		{"another secret", "GET", []string{"Authorization", "Bearer bob"}, 401},
		{"no secret", "GET", []string{"Authorization", "Bearer"}, 401},
		{"another scheme", "GET", []string{"Authorization", "Basic ann"}, 401},
		{"two tokens", "GET", []string{"Authorization", "Bearer ann", "Authorization", "Bearer ann"}, 401},
		{"nothing", "GET", nil, 401},

		{"a page reads", "GET", []string{cookie, page}, 200},
		{"a page reads, as browsers say", "GET", []string{cookie, page, "Sec-Fetch-Site", "same-origin"}, 200},
		{"an address that was typed", "GET", []string{cookie, page, "Sec-Fetch-Site", "none"}, 200},
		{"another site reads", "GET", []string{cookie, page, "Sec-Fetch-Site", "cross-site"}, 403},
		{"another site reads, of the same owner", "GET", []string{cookie, page, "Sec-Fetch-Site", "same-site"}, 403},
		{"a page opens a socket", "GET", []string{cookie, page, "Upgrade", "websocket", "Origin", url}, 200},
		{"a socket without an origin", "GET", []string{cookie, page, "Upgrade", "websocket", "Sec-Fetch-Site", "same-origin"}, 403},
		{"a page changes", "POST", []string{cookie, page, "Origin", url, api.CSRFHeader, "csrf"}, 200},
		{"behind TLS", "POST", []string{cookie, page, "Origin", "https://" + host, api.CSRFHeader, "csrf"}, 200},
		{"as browsers say", "POST", []string{cookie, page, "Sec-Fetch-Site", "same-origin", api.CSRFHeader, "csrf"}, 200},
		{"from a place that is not told", "POST", []string{cookie, page, api.CSRFHeader, "csrf"}, 403},
		{"without the page's token", "POST", []string{cookie, page, "Origin", url}, 403},
		{"with another one", "POST", []string{cookie, page, "Origin", url, api.CSRFHeader, "fsrc"}, 403},
		{"where the page has none", "POST", []string{cookie, api.CookieName + "=\"plain page\"", "Origin", url, api.CSRFHeader, ""}, 403},
		{"another scheme of origin", "POST", []string{cookie, page, "Origin", "ftp://" + host, api.CSRFHeader, "csrf"}, 403},
		{"two origins", "POST", []string{cookie, page, "Origin", url, "Origin", url, api.CSRFHeader, "csrf"}, 403},
	} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, url+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.header); i += 2 {
			q.Header.Add(c.header[i], c.header[i+1])
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, res.StatusCode, c.want)
		}
		if challenge := res.Header.Get("WWW-Authenticate"); (c.want == 401) != (challenge != "") {
			t.Errorf("%s: challenge %q", c.name, challenge)
		}
	}
}

// TestPagesOfListedOrigins: a browser is told that a listed origin may ask, and
// nothing of the sort about others.
func TestPagesOfListedOrigins(t *testing.T) {
	t.Parallel()
	cfg := config(io.Discard)
	cfg.Origins = []string{"https://app.example"}
	answer := func(v *edge.Visit) error { return v.OK("hello") }
	url := serve(t, cfg, route(http.MethodGet, "/x", answer), route(http.MethodPost, "/x", answer))
	cors := []string{
		"Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Cross-Origin-Resource-Policy",
		"Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age",
	}
	const expose = api.RequestIDHeader + ", Retry-After"
	for _, c := range []struct {
		name, method string
		header       []string
		status       int
		want         []string // the values of cors
	}{
		{"no page", "GET", nil, 200, []string{"Origin", "", "", "same-origin", "", "", ""}},
		{"its own page", "GET", []string{"Origin", url}, 200, []string{"Origin", "", "", "same-origin", "", "", ""}},
		{"a listed page", "GET", []string{"Origin", "https://app.example"}, 200, []string{"Origin", "https://app.example", expose, "cross-origin", "", "", ""}},
		{"another page", "GET", []string{"Origin", "https://evil.example"}, 403, []string{"Origin", "", "", "same-origin", "", "", ""}},
		{
			"two origins", "GET",
			[]string{"Origin", "https://app.example", "Origin", "https://app.example"},
			403,
			[]string{"Origin", "", "", "same-origin", "", "", ""},
		},
		{
			"a browser asks", "OPTIONS",
			[]string{"Origin", "https://app.example", "Access-Control-Request-Method", "POST"},
			204,
			[]string{"Origin", "https://app.example", expose, "cross-origin", "GET, POST", "Authorization, *", "600"},
		},
		{"no browser asks", "OPTIONS", []string{"Origin", "https://app.example"}, 405, []string{"Origin", "https://app.example", expose, "cross-origin", "", "", ""}},
		{
			"a browser asks for another page", "OPTIONS",
			[]string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"},
			403,
			[]string{"Origin", "", "", "same-origin", "", "", ""},
		},
	} {
		got := do(t, c.method, url+"/x", c.header...)
		var values []string
		for _, name := range cors {
			values = append(values, got.header.Get(name))
		}
		if diff := cmp.Diff(c.want, values); diff != "" || got.status != c.status {
			t.Errorf("%s: %d, want %d (-want +got):\n%s", c.name, got.status, c.status, diff)
		}
	}
}

// TestNoListedOrigins: without listed origins the response is the same for every
// origin that gets one, so caches need no Vary.
func TestNoListedOrigins(t *testing.T) {
	t.Parallel()
	url := serve(t, config(io.Discard), route(http.MethodGet, "/x", func(v *edge.Visit) error { return v.OK("hello") }))
	if got := do(t, http.MethodGet, url+"/x"); got.status != http.StatusOK || got.header.Get("Vary") != "" {
		t.Errorf("%d with Vary %q", got.status, got.header.Get("Vary"))
	}
}

// TestHostsOfTheDaemon: names that a stranger's name server may hand out are not
// among them.
func TestHostsOfTheDaemon(t *testing.T) {
	t.Parallel()
	cfg := config(io.Discard)
	cfg.Hosts = []string{"chela.example:443", "192.0.2.7", ":7717"}
	s, err := edge.New(cfg, []edge.Route{route(http.MethodGet, "/x", func(v *edge.Visit) error { return v.OK("hello") })})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:80": 200, "localhost.": 200, "127.0.0.1:7717": 200, "127.9.9.9": 200, "[::1]:7717": 200, "[::ffff:127.0.0.1]": 200,
		"chela.example": 200, "Chela.Example.:99": 200, "192.0.2.7": 200, "192.0.2.9:7717": 200, // the address that was reached
		"192.0.2.8": 421, "chela.example.org": 421, "evil.example": 421, "": 421, "localhost.evil.example": 421, "[fe80::1]": 421,
	} {
		q := httptest.NewRequestWithContext(
			context.WithValue(t.Context(), http.LocalAddrContextKey, address("192.0.2.9:7717")), http.MethodGet, "/x", nil)
		q.Host = host
		q.Header.Set("Authorization", "Bearer ann")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, q)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
}

// An address is that of a connection.
type address string

func (a address) String() string { return string(a) }

// TestRemote: of IPv6 the network counts, as one host has many addresses there.
func TestRemote(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[fe80::4%eth0]:80": "fe80::/64", "@": "@", "": "",
	} {
		if got := edge.Remote(&http.Request{RemoteAddr: at}); got != want {
			t.Errorf("%q is %q, want %q", at, got, want)
		}
	}
}

// TestPathsMeanJustWhatTheySay: one that could be read in two ways names nothing.
func TestPathsMeanJustWhatTheySay(t *testing.T) {
	t.Parallel()
	answer := func(v *edge.Visit) error { return v.OK(v.Request.PathValue("name")) }
	url := serve(t, config(io.Discard), route(http.MethodGet, "/a/{name}", answer), route(http.MethodPost, "/b", answer))
	for path, want := range map[string]int{
		"/a/x": 200, "/a/%41": 200, "/a/x%2Fy": 200,
		"/a/../a/x": 404, "//a/x": 404, "/a/x/": 404, "/a/./x": 404, "/a/%00": 404, "/a/x%0a": 404, "/a/%ff": 404, "/a": 404, "/b": 405,
	} {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		q.RequestURI = ""
		if err := q.URL.UnmarshalBinary([]byte(url + path)); err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer ann")
		res, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
		if allow := res.Header.Get("Allow"); want == 405 && allow != "POST" {
			t.Errorf("%s: allowed are %q", path, allow)
		}
	}
	if got := do(t, http.MethodPut, url+"/a/x").header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("allowed are %q", got)
	}
}

// TestRefusalsSayWhenToComeBack counts seconds, rounded up, one at least.
func TestRefusalsSayWhenToComeBack(t *testing.T) {
	t.Parallel()
	errs := map[string]error{
		"/busy":     chela.E(chela.Unavailable, "busy"),
		"/soon":     edge.Refusal{Err: chela.E(chela.Unavailable, "busy"), After: time.Millisecond},
		"/later":    edge.Refusal{Err: chela.E(chela.Exhausted, "too many"), After: 2500 * time.Millisecond},
		"/provider": &chela.ProviderError{Kind: chela.Unavailable, After: 7 * time.Second},
		"/conflict": edge.Refusal{Err: chela.E(chela.Conflict, "no"), After: time.Minute},
	}
	var routes []edge.Route
	for path, err := range errs {
		routes = append(routes, route(http.MethodGet, path, func(*edge.Visit) error { return err }))
	}
	url := serve(t, config(io.Discard), routes...)
	for path, want := range map[string]string{"/busy": "1", "/soon": "1", "/later": "3", "/provider": "7", "/conflict": ""} {
		if got := do(t, http.MethodGet, url+path).header.Get("Retry-After"); got != want {
			t.Errorf("%s: after %q, want %q", path, got, want)
		}
	}
}

// TestPanicsAreInternalErrors: the answer names the request, the log the reason,
// and half an answer is cut off.
func TestPanicsAreInternalErrors(t *testing.T) {
	t.Parallel()
	var log lockedLog
	url := serve(t, config(&log),
		route(http.MethodGet, "/before", func(*edge.Visit) error { panic("the reason") }),
		route(http.MethodGet, "/within", func(v *edge.Visit) error {
			if err := v.OK("half"); err != nil {
				return err
			}
			_ = v.FlushError()
			panic("another reason")
		}),
		route(http.MethodGet, "/abort", func(*edge.Visit) error { panic(http.ErrAbortHandler) }),
	)
	if got := do(t, http.MethodGet, url+"/before"); got.status != http.StatusInternalServerError || strings.Contains(got.body, "the reason") {
		t.Errorf("a panic before the answer: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/within", "/abort"} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer ann")
		res, err := http.DefaultClient.Do(q)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the answer looks whole", path)
		}
	}
	for text, want := range map[string]int{"panic: the reason": 1, "panic: another reason": 1, "level=ERROR": 2} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("the log holds %q %d times, want %d:\n%s", text, got, want, log.String())
		}
	}
}
