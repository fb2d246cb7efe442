package egress_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/safety/egress"
)

func TestParseRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]egress.Rule{
		"Registry.npmjs.org":      {Host: "registry.npmjs.org"},
		"*.example.com:8443":      {Host: "*.example.com:8443"},
		"*":                       {Host: "*"},
		"bücher.example:*":        {Host: "xn--bcher-kva.example:*"},
		"[2001:DB8::1]:443":       {Host: "[2001:db8::1]:443"},
		"[::1]":                   {Host: "::1"},
		"GET,HEAD a.example/v1/*": {Methods: []string{"GET", "HEAD"}, Host: "a.example", Path: "/v1/*"},
		"a.example/":              {Host: "a.example", Path: "/"},
	} {
		got, err := egress.ParseRule(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
		if again, err := egress.ParseRule(got.String()); got.Host != "::1" && (err != nil || !cmp.Equal(again, got)) {
			t.Errorf("%s: its text %q is %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{
		"", " ", "https://a.example", "get a.example", "GET  a.example", "a.example:0", "a.example:x", "a.example:99999", "0x7f.1", "127.1", "*.0x7f.1",
		"a.*.example", "**", "a.example/x*y", "a.example/x y", "a.example/%2e", "a.example/a?b", "a b c", "user@a.example",
	} {
		if got, err := egress.ParseRule(text); chela.KindOf(err) != chela.Invalid || chela.HintOf(err) == "" {
			t.Errorf("%q is %+v, %v, want it invalid with a hint", text, got, err)
		}
	}
}

// rules parses rules.
func rules(t *testing.T, texts ...string) (all []egress.Rule) {
	t.Helper()
	for _, text := range texts {
		r, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestRules: without an Allow, rules decide alone. TLS is opened for hosts whose
// rules are about methods or paths.
func TestRules(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run := n.begin(t, func(c *egress.Config) {
		c.Allow, c.Secrets = nil, nil
		c.Rules = rules(t, "GET api.example/v1/*", "open.example:443")
	})
	c := n.client(t, run)
	for target, want := range map[string]int{
		"https://api.example/v1/x":           200,
		"https://api.example/v1/a%2fb":       200,
		"http://api.example/v1/x":            200,
		"https://api.example/v2/x":           403,
		"https://api.example/v1/..%2fv2":     403,
		"https://api.example/v1/%2e%2e/v2":   403,
		"https://api.example/v1/%252e%252e/": 403,
		"https://api.example/v1/..;a/v2":     403,
		"https://api.example/v1/..%5cv2":     403,
		"https://api.example/V1/x":           403,
		"https://open.example/anything":      200,
		"http://open.example/":               403, // port 443 is named
		"http://bad.example/":                403,
		"https://bad.example/":               0, // the CONNECT is refused
	} {
		if status, body := get(t, c, target, nil); status != want {
			t.Errorf("%s: %d %s, want %d", target, status, body, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example/v1/x", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a method that no rule allows: %v %v", resp, err)
	}
	if err == nil {
		_ = resp.Body.Close()
	}
	if other := n.begin(t, func(c *egress.Config) { c.Secrets = nil; c.Rules = rules(t, "api.example") }); other.Reads() || !run.Reads() {
		t.Error("a proxy reads what nothing asks for, or does not")
	}
}

// TestRunServesItself: the token of another run is worth nothing at the listener
// of a run.
func TestRunServesItself(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run, other := n.begin(t), n.begin(t)
	addr := listening(t, run.Serve)
	for r, want := range map[*egress.Run]int{run: 200, other: 407} {
		proxy, err := url.Parse("http://run:" + r.Token() + "@" + addr)
		if err != nil {
			t.Fatal(err)
		}
		tr := &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}
		if status, body := get(t, &http.Client{Transport: tr}, "http://open.example/", nil); status != want {
			t.Errorf("got %d %s, want %d", status, body, want)
		}
	}
}

// TestAllowAsks: what no rule covers is Allow's to decide.
func TestAllowAsks(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	var asked []string
	run := n.begin(t, func(c *egress.Config) {
		c.Rules = rules(t, "open.example")
		c.Allow = func(_ context.Context, r egress.Request) error {
			asked = append(asked, r.Method+" "+r.Host+r.Path)
			return errors.New("later")
		}
	})
	for target, want := range map[string]int{"http://open.example/": 200, "http://api.example/x": 500} {
		if status, body := get(t, n.client(t, run), target, nil); status != want {
			t.Errorf("%s: %d %s, want %d", target, status, body, want)
		}
	}
	if diff := cmp.Diff([]string{"GET api.example:80/x"}, asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	n := newInternet(t, nil)
	run := n.begin(t)
	plain, trusting := strings.Join(run.Environment("127.0.0.1:3128", ""), "\n"), strings.Join(run.Environment("127.0.0.1:3128", "/run/ca.pem"), "\n")
	if !strings.Contains(plain, "HTTPS_PROXY=http://run:"+run.Token()+"@127.0.0.1:3128") || strings.Contains(plain, "SSL_CERT_FILE") {
		t.Errorf("without a bundle: %s", plain)
	}
	if !strings.Contains(trusting, "SSL_CERT_FILE=/run/ca.pem") {
		t.Errorf("with a bundle: %s", trusting)
	}
	if pem, err := run.Authority(); err != nil || !bytes.HasPrefix(pem, []byte("-----BEGIN CERTIFICATE-----")) {
		t.Errorf("authority %s, %v", pem, err)
	}
}
