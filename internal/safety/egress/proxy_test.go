package egress_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"chela"
	"chela/internal/safety/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An internet is a set of hosts behind one server, and a proxy to them.
type internet struct {
	proxy *egress.Proxy
	addr  string
	dial  func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	seen    []string // requests as the hosts saw them: host, path, query, Authorization, X-Key
	records []egress.Record
	dialed  []string
}

const secretValue = "s3cr3t/valüe+1"

func newInternet(t testing.TB, handler http.Handler) *internet {
	t.Helper()
	n := &internet{}
	record := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.seen = append(n.seen, strings.Join([]string{r.Host, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), r.Header.Get("X-Key")}, "|"))
		n.mu.Unlock()
		if handler != nil {
			handler.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "hello from %s %d", r.Host, len(body))
	})
	plain := httptest.NewServer(record)
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(record)
	cert := leafFor(t, "api.example", "open.example", "bad.example")
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{cert.pair}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(cert.root)
	n.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		n.mu.Lock()
		n.dialed = append(n.dialed, address)
		n.mu.Unlock()
		if strings.HasPrefix(address, "private.example") {
			return nil, chela.E(chela.Denied, "private.example is not public")
		}
		to := plain.Listener.Addr().String()
		if strings.HasSuffix(address, ":443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}
	n.proxy = egress.New(n.dial, egress.Options{Roots: roots})
	n.addr = serving(t, n.proxy)
	return n
}

// serving serves a proxy until the test ends, and returns its address.
func serving(t testing.TB, p *egress.Proxy) string { t.Helper(); return listening(t, p.Serve) }

// listening serves on a listener until the test ends, and returns its address.
func listening(t testing.TB, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// begin begins a run with the secret bound to api.example, which may reach all
// hosts but bad.example.
func (n *internet) begin(t testing.TB, change ...func(*egress.Config)) *egress.Run {
	t.Helper()
	c := egress.Config{
		Allow: func(_ context.Context, r egress.Request) error {
			if strings.HasPrefix(r.Host, "bad.example") {
				return chela.E(chela.Denied, "bad.example is not allowed")
			}
			return nil
		},
		Secrets: []egress.Secret{{Name: "key", Value: secretValue, Hosts: []string{"api.example"}}},
		Record: func(r egress.Record) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.records = append(n.records, r)
		},
	}
	for _, f := range change {
		f(&c)
	}
	run := n.proxy.Begin(c)
	t.Cleanup(run.Close)
	return run
}

func (n *internet) proxyURL(r *egress.Run) string { return "http://run:" + r.Token() + "@" + n.addr }

// client returns an HTTP client in the sandbox of a run.
func (n *internet) client(t testing.TB, r *egress.Run) *http.Client {
	t.Helper()
	proxy, err := url.Parse(n.proxyURL(r))
	if err != nil {
		t.Fatal(err)
	}
	pem, err := r.Authority()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	roots.AddCert(leafFor(t).root)
	tr := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func get(t testing.TB, c *http.Client, target string, header map[string]string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(text)
}

func TestSecretsAreInjected(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run := n.begin(t)
	c, s := n.client(t, run), run.Sentinel("key")
	if strings.Contains(s, secretValue) || len(s) < 40 {
		t.Fatalf("sentinel %q", s)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + s))
	for _, header := range []map[string]string{{"Authorization": "Bearer " + s}, {"Authorization": "Basic " + basic}, {"X-Key": s}} {
		if status, body := get(t, c, "https://api.example/a/"+s+"?key="+s, header); status != 200 {
			t.Errorf("%v: %d %s", header, status, body)
		}
	}
	path, query := "api.example|/a/"+secretValue, "key="+url.QueryEscape(secretValue)
	want := []string{
		path + "|" + query + "|Bearer " + secretValue + "|",
		path + "|" + query + "|Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secretValue)) + "|",
		path + "|" + query + "||" + secretValue,
	}
	if diff := cmp.Diff(want, n.seen); diff != "" {
		t.Errorf("the host saw (-want +got):\n%s", diff)
	}
	c.CloseIdleConnections()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.records {
		if !slices.Equal(r.Secrets, []string{"key"}) || r.Status != 200 || r.Received == 0 || r.Host != "api.example:443" {
			t.Errorf("record %+v", r)
		}
	}
	if len(n.records) != 3 {
		t.Errorf("%d records", len(n.records))
	}
}

func TestSentinelsForOtherHosts(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run, other := n.begin(t), n.begin(t)
	c := n.client(t, run)
	for name, try := range map[string]struct{ url, key string }{
		"plain request to another host": {"http://open.example/", run.Sentinel("key")},
		"unencrypted to its host":       {"http://api.example/", run.Sentinel("key")},
		"of another run":                {"https://api.example/", other.Sentinel("key")},
		"made up":                       {"https://api.example/", "chela-secret-" + strings.Repeat("0", 40)},
		"cut off":                       {"https://api.example/", "chela-secret-"},
		"of an unknown name":            {"https://api.example/", run.Sentinel("other")},
	} {
		if status, body := get(t, c, try.url, map[string]string{"X-Key": try.key}); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	// To a host without secrets the connection is not read, so the sentinel gets there, and is worth nothing.
	if status, _ := get(t, c, "https://open.example/", map[string]string{"X-Key": run.Sentinel("key")}); status != 200 {
		t.Errorf("unread connection: %d", status)
	}
	for _, s := range n.seen {
		if strings.Contains(s, secretValue) {
			t.Errorf("a host saw the secret: %s", s)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run := n.begin(t)
	c := n.client(t, run)
	for target, want := range map[string]string{
		"https://bad.example/":         "Forbidden",
		"http://bad.example/x":         "bad.example is not allowed",
		"http://bad.example:80/x":      "bad.example is not allowed",
		"http://BAD.example./x":        "bad.example is not allowed",
		"http://private.example/":      "private.example is not public",
		"https://private.example/":     "Forbidden",
		"http://user@bad.example/":     "bad.example is not allowed",
		"http://ba\u00adD.example/":    "", // no valid name
		"http://\uff42ad.example/":     "",
		"http://bad.example:99999/":    "", // no port
		"http://api.example/../../%zz": "",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		if err != nil {
			continue // no client sends it
		}
		resp, err := c.Do(req)
		text := fmt.Sprint(err)
		if err == nil {
			body, _ := io.ReadAll(resp.Body)
			text = resp.Status + string(body)
			_ = resp.Body.Close()
			if resp.StatusCode == 200 {
				t.Errorf("%s got through: %s", target, text)
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", target, text, want)
		}
	}
	for _, d := range n.dialed {
		if strings.Contains(d, "bad") {
			t.Errorf("dialed %s", d)
		}
	}
}

// raw sends bytes to the proxy and returns the first line of its answer.
func (n *internet) raw(t *testing.T, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	all, _ := io.ReadAll(conn)
	line, _, _ := strings.Cut(string(all), "\r\n")
	return line
}

func TestTokens(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run := n.begin(t)
	auth := func(token string) string {
		return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("run:"+token)) + "\r\n"
	}
	request := "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n%s\r\n"
	for name, c := range map[string]struct{ header, want string }{
		"none":      {"", "HTTP/1.1 407"},
		"wrong":     {auth("nothing"), "HTTP/1.1 407"},
		"empty":     {auth(""), "HTTP/1.1 407"},
		"a prefix":  {auth(run.Token()[:20]), "HTTP/1.1 407"},
		"right":     {auth(run.Token()) + "Connection: close\r\n", "HTTP/1.1 200"},
		"as bearer": {"Proxy-Authorization: Bearer " + run.Token() + "\r\nConnection: close\r\n", "HTTP/1.1 200"},
	} {
		if got := n.raw(t, fmt.Sprintf(request, c.header)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	run.Close()
	if got := n.raw(t, fmt.Sprintf(request, auth(run.Token()))); !strings.HasPrefix(got, "HTTP/1.1 407") {
		t.Errorf("after the end of the run: %q", got)
	}
	for _, s := range n.seen {
		if strings.Contains(s, run.Token()) {
			t.Error("a host saw the token of the proxy")
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	n := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
	}))
	for _, target := range []string{"https://open.example/", "https://api.example/", "http://open.example/"} {
		run := n.begin(t, func(c *egress.Config) { c.Limits.Bytes = 300 << 10 })
		status, body := get(t, n.client(t, run), target, nil)
		if len(body) > 320<<10 {
			t.Errorf("%s: %d bytes arrived", target, len(body))
		}
		if status2, text := get(t, n.client(t, run), target, nil); status2 == 200 {
			t.Errorf("%s: after the limit (%d): %d %.60s", target, status, status2, text)
		}
	}
}

func TestRunEndsItsConnections(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	n := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	for _, target := range []string{"https://open.example/", "https://api.example/", "http://open.example/"} {
		run := n.begin(t)
		ended := make(chan string)
		c := n.client(t, run)
		go func() {
			_, body := get(t, c, target, nil)
			ended <- body
		}()
		<-arrived
		run.Close()
		<-ended
	}
}

func TestAskingWaits(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	answer := make(chan error)
	run := n.begin(t, func(c *egress.Config) {
		c.Allow = func(ctx context.Context, r egress.Request) error {
			select {
			case err := <-answer:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for _, want := range []error{nil, errors.New("broken")} {
		go func() { answer <- want }()
		status, body := get(t, n.client(t, run), "http://open.example/", nil)
		if (want == nil) != (status == 200) || strings.Contains(body, "broken") {
			t.Errorf("%v: %d %s", want, status, body)
		}
	}
}

func TestMatchHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"api.example", "api.example:443", true},
		{"API.example", "api.example:80", true},
		{"api.example", "api.example:8443", false},
		{"api.example:8443", "api.example:8443", true},
		{"api.example:*", "api.example:1", true},
		{"*.example", "api.example:443", true},
		{"*.example", "a.b.example:443", true},
		{"*.example", "example:443", false},
		{"*.example", "badexample:443", false},
		{"api.example", "api.example.evil:443", false},
		{"api.example", "xapi.example:443", false},
		{"*", "x:443", true},
		{"*", "x:22", false},
		{"[::1]:443", "[::1]:443", true},
		{"", "x:443", false},
	} {
		if got := egress.MatchHost(c.pattern, c.host); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.host, got)
		}
	}
}

// TestPrograms: the programs that people run in a sandbox use the proxy by the
// environment alone, with a secret that they never see.
func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	site := filepath.Join(dir, "site")
	for _, c := range [][]string{
		{"git", "init", "-q", "-b", "main", site},
		{"git", "-C", site, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"},
		{"git", "-C", site, "update-server-info"},
	} {
		if out, err := exec.CommandContext(t.Context(), c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no git: %v %s", err, out)
		}
	}
	n := newInternet(t, http.FileServer(http.Dir(filepath.Join(site, ".git"))))
	run := n.begin(t)
	pem, err := run.Authority()
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(bundle, append(pem, leafFor(t).pem...), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), egress.Environment(n.proxyURL(run), bundle)...)
	env = append(env, "HOME="+dir, "KEY="+run.Sentinel("key"))
	for name, command := range map[string]string{
		"curl":    `curl -sSf -H "X-Key: $KEY" https://api.example/HEAD`,
		"git":     `git -c http.extraHeader="X-Key: $KEY" clone -q https://api.example/ ` + filepath.Join(dir, "clone") + ` && git -C ` + filepath.Join(dir, "clone") + ` log --format=%s && echo refs/heads/main`,
		"python3": `python3 -c 'import os,urllib.request as u; print(u.urlopen(u.Request("https://api.example/HEAD",headers={"X-Key":os.environ["KEY"]})).read().decode())'`,
	} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed", name)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "refs/heads/main") || strings.Contains(string(out), secretValue) {
			t.Errorf("%s: %v %s", name, err, out)
		}
		n.mu.Lock()
		if last := n.seen[len(n.seen)-1]; !strings.HasSuffix(last, "|"+secretValue) {
			t.Errorf("%s: the host saw %s", name, last)
		}
		n.mu.Unlock()
	}
}
