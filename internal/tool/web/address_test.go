package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool/web"
)

// All spellings of a URL have one subject, and "always" covers the host and the
// first folder of the path.
func TestSubjects(t *testing.T) {
	t.Parallel()
	f := web.HTTP(open)
	const refused = ""
	for _, tt := range []struct{ url, subject, always string }{
		{"https://api.example.com/v1/users/7?x=y", "https://api.example.com/v1/users/7?x=y", "https://api.example.com/v1/*"},
		{"https://api.example.com/v1", "https://api.example.com/v1", "https://api.example.com/*"},
		{"https://API.Example.com.:443/v1/", "https://api.example.com/v1/", "https://api.example.com/v1/*"},
		{"http://example.com:80", "http://example.com/", "http://example.com/*"},
		{"http://example.com:443/", "http://example.com:443/", "http://example.com:443/*"},
		{"https://example.com:8443/", "https://example.com:8443/", "https://example.com:8443/*"},
		{"https://a/v1/../admin/x", "https://a/admin/x", "https://a/admin/*"},
		{"https://a/v1/%2e%2E/admin/x", "https://a/admin/x", "https://a/admin/*"},
		{"https://a/%76%31/x", "https://a/v1/x", "https://a/v1/*"},
		{"https://a/v1/..%2fadmin", "https://a/v1/..%2Fadmin", "exactly"},
		{"https://a/v1/..%5cadmin", "https://a/v1/..%5Cadmin", "exactly"},
		{"https://a/v1/..\\admin", "https://a/v1/..%5Cadmin", "exactly"},
		{"https://a/v1/%252e%252e/admin", "https://a/v1/%252e%252e/admin", "exactly"},
		{"https://a/v1/..;x/admin", "https://a/v1/..;x/admin", "exactly"},
		{"https://a/*/x?*", "https://a/%2A/x?%2A", "https://a/%2A/*"},
		{"https://a//v1/x", "https://a//v1/x", "https://a/*"},
		{"https://a/x?q=ü z\u202e", "https://a/x?q=%C3%BC%20z%E2%80%AE", "https://a/*"},
		{"https://a/x?y=1&api_token=s3cret&z=2", "https://a/x?y=1&api_token=(secret:6)&z=2", "https://a/*"},
		{"https://a/v1/..;x/?token=s3cret", "https://a/v1/..;x/?token=(secret:6)", "exactly"},
		{"https://bücher.example/x", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/*"},
		{"https://BÜCHER.example/x", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/*"},
		{"https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/*"},
		{"https://b%C3%BCcher.example/x", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/*"},
		{"https://ｅｘａｍｐｌｅ．com/x", "https://example.com/x", "https://example.com/*"},
		{"https://exam\u00adple.com/x", "https://example.com/x", "https://example.com/*"},
		{"https://exаmple.com/", "https://xn--exmple-4nf.com/", "https://xn--exmple-4nf.com/*"},
		{"https://my_host.example/", "https://my_host.example/", "https://my_host.example/*"},
		{"http://[2001:DB8:0::1]/", "http://[2001:db8::1]/", "http://[2001:db8::1]/*"},
		{"http://[::1]:8080", "http://[::1]:8080/", "http://[::1]:8080/*"},
		{"http://[::ffff:192.0.2.1]/", "http://192.0.2.1/", "http://192.0.2.1/*"},
		{"http://192.0.2.1/", "http://192.0.2.1/", "http://192.0.2.1/*"},
		{"http://[fe80::1%25eth0]/", refused, ""},
		{"http://127.1/", refused, ""},
		{"http://0x7f.0.0.1/", refused, ""},
		{"http://2130706433/", refused, ""},
		{"http://user@example.com/", refused, ""},
		{"http://example.com:pw@evil.example/", refused, ""},
		{"http://exa%6dple.com/", refused, ""},
		{"http://exa*ple.com/", refused, ""},
		{"http://a..b/", refused, ""},
		{"http://xn--a/", refused, ""},
		{"https:example.com", refused, ""},
	} {
		raw, err := json.Marshal(args{"url": tt.url})
		if err != nil {
			t.Fatal(err)
		}
		j := f.Judge(raw)
		if tt.subject == refused {
			if !j.Exact || len(j.Offers) > 0 {
				t.Errorf("%s is judged as %+v, want it refused", tt.url, j)
			}
			wantFailed(t, call(t, loopback, args{"url": tt.url}), "url: ")
			continue
		}
		want := []chela.Offer{{Pattern: "GET " + tt.always}}
		if tt.always == "exactly" {
			want = []chela.Offer{{Pattern: "GET " + tt.subject, Literal: true}}
		}
		if diff := cmp.Diff([]string{"GET " + tt.subject}, j.Subjects); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.url, diff)
		}
		if diff := cmp.Diff(want, j.Offers); diff != "" {
			t.Errorf("always of %s (-want +got)\n%s", tt.url, diff)
		}
	}
}

// FuzzSubject: the subject of a URL is a URL that has this subject itself, of
// ASCII without "*", and what "always" covers begins with all of its host.
func FuzzSubject(f *testing.F) {
	for _, seed := range []string{
		"https://Example.com./a/../b%2e?q=ü*#x", "http://[::1%25a]:1/", "https://xn--bcher-kva/", "http://a/%2f..;/", "http://1.2.3.0x4/", "https://a@b:1/", "http://a//../b", "https://a/?Access_Token=abc&b=(secret:1)",
	} {
		f.Add(seed)
	}
	tool := web.HTTP(open)
	judge := func(t *testing.T, text string) chela.Judgement {
		raw, err := json.Marshal(args{"url": text})
		if err != nil {
			t.Fatal(err)
		}
		return tool.Judge(raw)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j := judge(t, text)
		if len(j.Offers) == 0 {
			return // refused
		}
		canonical := strings.TrimPrefix(j.Subjects[0], "GET ")
		again := judge(t, canonical)
		if diff := cmp.Diff(j.Subjects, again.Subjects); diff != "" {
			t.Fatalf("%q (-once +twice)\n%s", text, diff)
		}
		u, err := url.Parse(canonical)
		if err != nil || strings.ContainsFunc(canonical, func(r rune) bool { return r <= ' ' || r > '~' || r == '*' }) {
			t.Fatalf("%q has the subject %q, %v", text, canonical, err)
		}
		if origin := "GET " + u.Scheme + "://" + u.Host + "/"; !strings.HasPrefix(j.Offers[0].Pattern, origin) {
			t.Errorf("%q: always covers %q, want it to begin with %q", text, j.Offers[0].Pattern, origin)
		}
	})
}
