package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/datadir"
	"chela/internal/safety/guard"
	"chela/internal/tool"
	"chela/internal/tool/tooltest"
	"chela/internal/tool/web"
	"chela/internal/tool/workspace"
)

type args map[string]any

// call makes a call of the http tool made with cfg, as the turn does.
func call(t *testing.T, cfg web.Config, a args) chela.ToolResult {
	t.Helper()
	res, err := callContext(t.Context(), t, cfg, a)
	if err != nil {
		t.Fatalf("%v: %v", a, err)
	}
	return res
}

func callContext(ctx context.Context, t *testing.T, cfg web.Config, a args) (chela.ToolResult, error) {
	t.Helper()
	f, c := checked(t, cfg, a)
	return run(ctx, f, c)
}

// checked returns the http tool made with cfg, and a call of it as a turn has it.
func checked(t *testing.T, cfg web.Config, a args) (chela.Tool, chela.ToolCall) {
	t.Helper()
	return checkedFor(t, web.HTTP(cfg), a)
}

// checkedFor returns a tool, and a call of it as a turn has it.
func checkedFor(t *testing.T, f chela.Tool, a args) (chela.Tool, chela.ToolCall) {
	t.Helper()
	set, err := tool.NewSet(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := set.Check(f.Name, raw)
	if err != nil {
		t.Fatal(err)
	}
	return f, chela.ToolCall{ID: "call_1", Tool: f.Name, Agent: "main", Args: fit}
}

func run(ctx context.Context, f chela.Tool, c chela.ToolCall) (chela.ToolResult, error) {
	if f.Prepare == nil {
		return f.Run(ctx, c)
	}
	prepared, err := f.Prepare(ctx, c)
	if err != nil {
		return chela.ToolResult{}, err
	}
	c.Intent, c.Changes = prepared.Intent, prepared.Changes
	return f.Run(ctx, c)
}

// serve begins a server on loopback.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// Configurations of the tool: for public addresses, and for those of this machine.
var (
	open     = web.Config{Dialer: dialer()}
	loopback = web.Config{Dialer: dialer("127.0.0.0/8", "::1")}
)

// dialer returns a dialer that finds the names that end in ".example" on this
// machine.
func dialer(allow ...string) *guard.Dialer {
	d, err := guard.New(guard.Config{Allow: allow, Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
		if strings.HasSuffix(host, ".example") {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return nil, errors.New("no such host")
	}})
	if err != nil {
		panic(err)
	}
	return d
}

// keepIn returns a blob store of the test.
func keepIn(t *testing.T) *datadir.Blobs {
	t.Helper()
	return datadir.NewBlobs(t.TempDir())
}

func TestContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := web.HTTP(web.Config{Workspace: workspace.At(dir), Keep: keepIn(t).Keep, Dialer: dialer()})
	tooltest.Check(t, f, dir)
	tooltest.CheckShown(t, f)
}

func TestRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the test sees what is missing
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s %q %s %s", r.Method, r.URL, body, r.Header.Get("X-Key"), r.UserAgent())
	})
	res := call(t, loopback, args{"method": "POST", "url": s.URL + "/a/../b//c?x=1#part", "headers": args{"x-key": "k", "User-Agent": "me"}, "body": "hello"})
	want := "201 Created\nContent-Type: text/plain\n\nPOST /b//c?x=1 \"hello\" k me"
	if diff := cmp.Diff(chela.ToolResult{Text: want, Brief: "HTTP status 201"}, res); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(make([]byte, 50<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		header http.Header
		status int
		body   string
		want   string
	}{
		{"empty", nil, 204, "", "204 No Content\n\n[no body]"},
		{"not found", http.Header{"Content-Type": {"application/json"}}, 404, `{"error":"no"}`, "404 Not Found\nContent-Type: application/json\n\n{\"error\":\"no\"}"},
		{"retry", http.Header{"Retry-After": {"7"}, "Content-Type": {"text/plain"}}, 429, "slow", "429 Too Many Requests\nContent-Type: text/plain\nRetry-After: 7\n\nslow"},
		{"binary", http.Header{"Content-Type": {"image/png"}}, 200, "\x89PNG\r\n", "200 OK\nContent-Type: image/png\n\n[image/png, 6 bytes, not shown; use save_to to keep it]"},
		{"text with NUL", http.Header{"Content-Type": {"text/plain"}}, 200, "a\x00b", "200 OK\nContent-Type: text/plain\n\n[text/plain, 3 bytes, not shown; use save_to to keep it]"},
		{"latin1", http.Header{"Content-Type": {"text/plain"}}, 200, "caf\xe9", "200 OK\nContent-Type: text/plain\n\ncaf\uFFFD"},
		{"long", http.Header{"Content-Type": {"text/plain"}}, 200, strings.Repeat("é", 30000), "200 OK\nContent-Type: text/plain\n\n" + strings.Repeat("é", 30000)},
		{"endless", http.Header{"Content-Type": {"text/plain"}}, 200, strings.Repeat("x", 6<<20), "200 OK\nContent-Type: text/plain\n\n" + strings.Repeat("x", 5<<20) + "\n[cut here: the body has more than 5242880 bytes; ask for less]"},
		{"huge", http.Header{"Content-Type": {"image/png"}}, 200, strings.Repeat("x", 6<<20), "200 OK\nContent-Type: image/png\n\n[image/png, more than 5242880 bytes, not shown; use save_to to keep it]"},
		{"zip bomb", http.Header{"Content-Type": {"image/png"}, "Content-Encoding": {"gzip"}}, 200, zipped.String(), "200 OK\nContent-Type: image/png\n\n[image/png, more than 5242880 bytes, not shown; use save_to to keep it]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range tt.header {
					w.Header()[name] = values
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body) // the client stops reading
			})
			if diff := cmp.Diff(chela.ToolResult{Text: tt.want, Brief: fmt.Sprint("HTTP status ", tt.status)}, call(t, loopback, args{"url": s.URL})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func wantFailed(t *testing.T, res chela.ToolResult, want string) {
	t.Helper()
	if !res.Failed || !strings.Contains(res.Text, want) {
		t.Errorf("got %+v, want a failure with %q", res, want)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args args
		want string
	}{
		{"no scheme", args{"url": "example.com"}, "only http and https"},
		{"file", args{"url": "file:///etc/passwd"}, "only http and https"},
		{"no host", args{"url": "http://"}, "the host is missing"},
		{"name in it", args{"url": "http://user@example.com/"}, "a name or password"},
		{"misleading name", args{"url": "http://example.com@127.0.0.1/"}, "a name or password"},
		{"mail port", args{"url": "http://example.com:25/"}, "port 25"},
		{"no port", args{"url": "http://example.com:99999/"}, "port 99999"},
		{"malformed", args{"url": "http://[::1"}, "is not a URL"},
		{"control", args{"url": "http://a/\n"}, "is not a URL"},
		{"long", args{"url": "http://a/" + strings.Repeat("x", 9000)}, "8192 are allowed"},
		{"host header", args{"url": "http://a/", "headers": args{"host": "b"}}, "leave it out"},
		{"header with line end", args{"url": "http://a/", "headers": args{"X": "a\r\nY: b"}}, "malformed"},
		{"header name", args{"url": "http://a/", "headers": args{"X Y": "a"}}, "malformed"},
		{"save without workspace", args{"url": "http://a/", "save_to": "x"}, "no workspace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFailed(t, call(t, loopback, tt.args), tt.want)
		})
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the request got through") })
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cfg := open
	for _, host := range []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "localhost.", "LOCALHOST", "rebind.example", "rebind.example.",
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "198.18.0.1", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "224.0.0.1", "255.255.255.255",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			res := call(t, cfg, args{"url": "http://" + host + ":" + port + "/"})
			if !res.Failed || strings.Contains(res.Text, "did not answer") {
				t.Errorf("got %+v, want a refusal", res)
			}
			if !strings.Contains(res.Text, "is not a public address") && !strings.Contains(res.Text, "is an address in an odd form") && !strings.Contains(res.Text, "cannot be found") {
				t.Errorf("got %q, want it to say that the address is not public", res.Text)
			}
		})
	}
}

func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cfg := web.Config{Dialer: dialer("intern.example")}
	for _, host := range []string{"intern.example", "INTERN.example."} {
		if res := call(t, cfg, args{"url": "http://" + host + ":" + port}); res.Failed || !strings.HasSuffix(res.Text, "\n\nhello") {
			t.Errorf("%s: got %+v, want its answer", host, res)
		}
	}
	wantFailed(t, call(t, cfg, args{"url": "http://other.example:" + port}), "is not a public address")
}

func TestSaveTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := loopback
	cfg.Workspace = workspace.At(dir)
	kept := keepIn(t)
	cfg.Keep = kept.Keep
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bad":
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "broken")
		case "/huge":
			_, _ = w.Write(make([]byte, 6<<20)) // the client stops reading
		default:
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG")
		}
	})
	hash, err := kept.Keep(t.Context(), []byte("\x89PNG"))
	if err != nil {
		t.Fatal(err)
	}
	for _, was := range []chela.Preimage{{Made: "img"}, {Before: hash}} { // the second time it is there
		was.Kind, was.Path, was.After = chela.PreimageFile, "img/a.png", hash
		res := call(t, cfg, args{"url": s.URL, "save_to": "img/a.png"})
		want := chela.ToolResult{
			Text: "200 OK\nsaved to /workspace/img/a.png: 4 bytes, image/png", Brief: "HTTP status 200, 4 bytes were saved", Changes: []chela.Preimage{was},
		}
		if diff := cmp.Diff(want, res); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "img/a.png"))
	if err != nil || string(content) != "\x89PNG" {
		t.Errorf("the file holds %q, %v", content, err)
	}
	wantFailed(t, call(t, cfg, args{"url": s.URL + "/bad", "save_to": "b"}), "nothing was saved:\n502 Bad Gateway")
	wantFailed(t, call(t, cfg, args{"url": s.URL + "/huge", "save_to": "b"}), "larger than 5242880 bytes")
	wantFailed(t, call(t, cfg, args{"url": s.URL, "save_to": "../b"}), "outside of the workspace")
	cfg.Quota = &workspace.Quota{Size: 1, Files: 100}
	wantFailed(t, call(t, cfg, args{"url": s.URL, "save_to": "b"}), "sandbox.workspace_mib")
	if _, err := os.Lstat(filepath.Join(dir, "b")); !os.IsNotExist(err) {
		t.Errorf("b is there: %v", err)
	}
}

func TestTimeAndCancel(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	wantFailed(t, call(t, loopback, args{"url": s.URL, "timeout_secs": 1}), "did not answer within 1s")
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }() // ends with the request below
	began := time.Now()
	if _, err := callContext(ctx, t, loopback, args{"url": s.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: got %v, want context.Canceled", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a cancelled call took %s", took)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	wantFailed(t, call(t, loopback, args{"url": gone.URL}), "refuses the connection")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	f := web.HTTP(open)
	exactly := func(subjects ...string) (offers []chela.Offer) {
		for _, s := range subjects {
			offers = append(offers, chela.Offer{Pattern: s, Literal: true})
		}
		return offers
	}
	tests := []struct {
		args string
		want chela.Judgement
	}{
		{`{"url":"HTTPS://Example.COM/a/../b?q=1#x"}`, chela.Judgement{
			Effect: chela.EffectNetwork, Resume: chela.ResumeRepeat, Subjects: []string{"GET https://example.com/b?q=1"},
			Offers: []chela.Offer{{Pattern: "GET https://example.com/*"}},
		}},
		{`{"url":"https://example.com","save_to":"x"}`, chela.Judgement{
			Effect: chela.EffectNetwork, Resume: chela.ResumeRepeat, Subjects: []string{"GET https://example.com/", "/workspace/x"},
			Offers: []chela.Offer{{Pattern: "GET https://example.com/*"}, {Pattern: "/workspace/x", Literal: true}},
		}},
		{`{"method":"DELETE","url":"https://example.com/x/y"}`, chela.Judgement{
			Effect: chela.EffectSend, Subjects: []string{"DELETE https://example.com/x/y"},
			Offers: []chela.Offer{{Pattern: "DELETE https://example.com/x/*"}},
		}},
		{`{"url":"https://example.com","save_to":"a/../.GIT/config"}`, chela.Judgement{
			Effect: chela.EffectNetwork, Resume: chela.ResumeRepeat, Subjects: []string{"GET https://example.com/", "/workspace/.GIT/config"}, Exact: true, Act: chela.ActInstruct,
			Risk:   "it changes a file that programs run or obey: /workspace/.GIT/config (version control)",
			Offers: []chela.Offer{{Pattern: "GET https://example.com/*"}, {Pattern: "/workspace/.GIT/config", Literal: true}},
		}},
		{`{"url":"https://example.com/a/%2f/b"}`, chela.Judgement{
			Effect: chela.EffectNetwork, Resume: chela.ResumeRepeat, Subjects: []string{"GET https://example.com/a/%2F/b"}, Exact: true,
			Offers: exactly("GET https://example.com/a/%2F/b"),
		}},
		{`{"url":"nonsense"}`, chela.Judgement{
			Effect: chela.EffectNetwork, Resume: chela.ResumeRepeat, Subjects: []string{"GET nonsense"}, Exact: true,
		}},
	}
	for _, tt := range tests {
		got := f.Judge(json.RawMessage(tt.args))
		got.Preview = ""
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Judge(%s) (-want +got)\n%s", tt.args, diff)
		}
	}
}
