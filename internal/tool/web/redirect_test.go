package web_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/safety/guard"
	"chela/internal/tool/web"
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

// site is a fake network: public.example is a server of this machine, and every
// other name and number that a C library would resolve is a private address.
func site(t *testing.T, h http.HandlerFunc) (d *guard.Dialer, dialed func() []string) {
	t.Helper()
	s := serve(t, h)
	var mu sync.Mutex
	var all []string
	d, err := guard.New(guard.Config{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "public.example" {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		},
		Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			all = append(all, address)
			mu.Unlock()
			return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
}

// refusedHosts returns the hosts of URLs that every way out refuses.
func refusedHosts(t *testing.T) (hosts []string) {
	t.Helper()
	text, err := os.ReadFile("../../safety/guard/testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			hosts = append(hosts, line)
		}
	}
	return hosts
}

// TestPrivateHosts: neither as the address of a call nor behind any redirect is
// a host reached that is not public, in whatever notation.
func TestPrivateHosts(t *testing.T) {
	t.Parallel()
	d, dialed := site(t, func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		if err != nil {
			t.Errorf("the request %s got through", r.URL)
		}
		w.Header()["Location"] = []string{r.URL.Query().Get("to")}
		w.WriteHeader(status)
	})
	fetch, cfg := web.Images(d), web.Config{Dialer: d, Now: time.Now, IgnoreRobots: true}
	for _, host := range refusedHosts(t) {
		address := "http://" + host + "/latest/meta-data/"
		wantFailed(t, call(t, cfg, args{"url": address}), "")
		wantFailed(t, read(t, cfg, args{"url": address}), "")
		if _, _, err := fetch(t.Context(), address); chela.KindOf(err) != chela.Denied {
			t.Errorf("%s: got %v, want it denied", address, err)
		}
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, scheme := range []string{"http:", "https:", ""} {
				from := fmt.Sprintf("http://public.example/%d?to=%s", status, url.QueryEscape(scheme+"//"+host+"/"))
				if _, _, err := fetch(t.Context(), from); chela.KindOf(err) != chela.Denied {
					t.Errorf("%s: got %v, want it denied", from, err)
				}
				for _, f := range []chela.Tool{web.HTTP(cfg), web.Fetch(cfg)} {
					f, c := checkedFor(t, f, args{"url": from})
					c.Rule = ruled(chela.Allow)
					res, err := run(t.Context(), f, c)
					if err != nil {
						t.Fatal(err)
					}
					wantFailed(t, res, "")
				}
			}
		}
	}
	for _, at := range dialed() {
		if at != "93.184.216.34:80" {
			t.Errorf("%s was connected to", at)
		}
	}
}

// TestMisleadingURLs: what programs read in several ways is no URL here, and
// nothing is connected to.
func TestMisleadingURLs(t *testing.T) {
	t.Parallel()
	d, dialed := site(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the request %s got through", r.URL) })
	fetch, cfg := web.Images(d), web.Config{Dialer: d, Now: time.Now}
	for _, address := range []string{
		"http://public.example@10.0.0.1/", "http://public.example:80@10.0.0.1/", "http://public.example%40@10.0.0.1/", "http://10.0.0.1@public.example/",
		"http://public.example\\@10.0.0.1/", "http://10.0.0.1\\@public.example/", "http://10.0.0.1\\.public.example/", "http:\\\\10.0.0.1/", "http:/\\10.0.0.1/",
		"http://10.0.0.1%00.public.example/", "http://10.0.0.1%2f@public.example/", "http://10.0.0.1%0a.public.example/", "http://10%2e0%2e0%2e1/", "http://%31%30.0.0.1/",
		"http://%6c%6f%63%61lhost/", "http://10.0.0.1\x00.public.example/", "http://10.0.0.1\n.public.example/", "http://10.0.0.1 .public.example/", "http://[::1/", "http://::1/", "http://[::1]x/",
		"http://[10.0.0.1]/", "http://[::ffff:10.0.0.1%25]/", "http://10.0.0.1:80:80/", "http://10.0.0.1:0x50/", "http:///10.0.0.1/", "http:10.0.0.1", "//10.0.0.1/",
		"file:///etc/passwd", "gopher://10.0.0.1:70/_x", "ftp://10.0.0.1/", "dict://10.0.0.1:2628/", "unix:///var/run/docker.sock", "jar:http://10.0.0.1!/", "data:text/plain,x", "http+unix://%2fvar%2frun%2fdocker.sock/",
	} {
		wantFailed(t, call(t, cfg, args{"url": address}), "")
		wantFailed(t, read(t, cfg, args{"url": address}), "")
		if _, _, err := fetch(t.Context(), address); !slices.Contains([]chela.Kind{chela.Invalid, chela.Denied}, chela.KindOf(err)) {
			t.Errorf("%q: got %v, want it refused", address, err)
		}
	}
	if all := dialed(); len(all) > 0 {
		t.Errorf("%v were connected to", all)
	}
}

func TestPublicHost(t *testing.T) {
	t.Parallel()
	d, dialed := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go" {
			http.Redirect(w, r, "http://PUBLIC.example.:80/end", http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, "hello")
	})
	f, c := checked(t, web.Config{Dialer: d}, args{"url": "http://public.example/go"})
	c.Rule = ruled(chela.Allow)
	res, err := run(t.Context(), f, c)
	if err != nil || !strings.HasSuffix(res.Text, "\n\nhello") || len(dialed()) != 2 {
		t.Errorf("got %q, %v after connecting to %v", res.Text, err, dialed())
	}
}
