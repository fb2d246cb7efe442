package web_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/platform/datadir"
	"chela/internal/tool/workspace"
)

// A vault has one secret, for one host.
type vault struct {
	host, value string
	uses        []chela.SecretUse
}

func (v *vault) Send(_ context.Context, name chela.SecretName, use chela.SecretUse) (string, error) {
	switch {
	case name != "key":
		return "", chela.E(chela.NotFound, "there is no secret")
	case use.Host != v.host:
		return "", chela.E(chela.Denied, "the secret key may not be sent to "+use.Host)
	}
	v.uses = append(v.uses, use)
	return v.value, nil
}

// A secretCase is a request with a secret, and what its result holds.
type secretCase struct {
	name, path string
	secret     args
	rule       chela.Verdict
	want       string
}

// secretCases are requests with a secret that has a value.
func secretCases(value string) []secretCase {
	return []secretCase{
		{"bearer", "/", args{"name": "key"}, chela.Ask, "got true"},
		{"basic", "/", args{"name": "key", "as": "basic", "field": "me"}, chela.Ask, `"me"`},
		{"header", "/", args{"name": "key", "as": "header", "field": "X-Key"}, chela.Ask, "got false: \"[redacted: key]\""},
		{"query", "/?a=1", args{"name": "key", "as": "query", "field": "k"}, chela.Ask, "got false: \"\" \"[redacted: key]\""},
		{"path", "/bot{secret}/x", args{"name": "key", "as": "path"}, chela.Ask, `"/bot[redacted: key]/x"`},
		{"saved", "/", args{"name": "key"}, chela.Ask, "saved to"},
		{"redirect to another host", "/go", args{"name": "key"}, chela.Allow, "arrived with"},
		{"redirect that carries it away", "/away", args{"name": "key", "as": "query", "field": "k"}, chela.Allow, "it would take the secret to another host"},
		{"no such secret", "/", args{"name": "none"}, chela.Ask, "there is no secret"},
		{"no name", "/", args{"name": "a b"}, chela.Ask, "secret_list"},
		{"no place in the path", "/", args{"name": "key", "as": "path"}, chela.Ask, "{secret}"},
		{"no header", "/", args{"name": "key", "as": "header", "field": "Host"}, chela.Ask, "field is the name of a header"},
		{"a parameter twice", "/?k=1", args{"name": "key", "as": "query", "field": "k"}, chela.Ask, "that the URL does not have"},
		{"in the URL already", "/?k=" + url.QueryEscape(value), args{"name": "key"}, chela.Ask, "the request itself holds the value"},
	}
}

// TestSecretOfRequest: a secret is sent in each way, only to its host, and whatever
// the server says of it, in any form, does not reach the result, a file or an error.
func TestSecretOfRequest(t *testing.T) {
	t.Parallel()
	const value = "sword/fish?&= 42"
	var other string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		w.Header().Set("Link", "<"+r.URL.String()+">")
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other+"/?k="+url.QueryEscape(r.URL.Query().Get("k")), http.StatusFound)
			return
		case "/go":
			http.Redirect(w, r, other+"/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "got %v: %q %q %q %q\n", r.Header.Get("Authorization") == "Bearer "+value, r.Header.Get("X-Key"), r.URL.Query().Get("k"), r.URL.Path, user)
		fmt.Fprintf(w, "as %s %s %s %q\n", hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte("x"+value)), r.Header.Get("Authorization"), password)
	})
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "arrived with %q %q", r.Header, r.URL) })
	other = elsewhere.URL
	v := &vault{host: strings.TrimPrefix(s.URL, "http://"), value: value}
	dir := t.TempDir()
	cfg := loopback
	cfg.Secrets, cfg.Workspace = v, workspace.At(dir)
	cfg.Keep = datadir.NewBlobs(t.TempDir()).Keep
	for _, tt := range secretCases(value) {
		t.Run(tt.name, func(t *testing.T) {
			a := args{"url": s.URL + tt.path, "secret": tt.secret}
			if tt.name == "saved" {
				a["save_to"] = "out.txt"
			}
			f, c := checked(t, cfg, a)
			c.Rule, c.Principal, c.Session = ruled(tt.rule), chela.PrincipalOwner, "agent:main:main"
			res, err := run(t.Context(), f, c)
			text := res.Text
			if tt.name == "saved" {
				saved, _ := os.ReadFile(filepath.Join(dir, "out.txt"))
				text += string(saved)
			}
			if err != nil || !strings.Contains(text, tt.want) {
				t.Errorf("got %q, %v; want %q", text, err, tt.want)
			}
			if tt.name == "in the URL already" {
				return
			}
			for _, form := range []string{
				value, url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value)),
				base64.StdEncoding.EncodeToString([]byte("me:" + value)), base64.StdEncoding.EncodeToString([]byte("x" + value))[4:20],
			} {
				if strings.Contains(text, form) {
					t.Errorf("the result holds %q: %q", form, text)
				}
			}
		})
	}
	if n := len(v.uses); n != 9 || v.uses[0].Purpose != "http" || v.uses[0].Session != "agent:main:main" {
		t.Errorf("%d uses: %+v", n, v.uses)
	}
	f, c := checked(t, cfg, args{"url": other, "secret": args{"name": "key"}})
	c.Principal = chela.PrincipalOwner
	if res, err := run(t.Context(), f, c); err != nil || !strings.Contains(res.Text, "may not be sent to") {
		t.Errorf("to another host: %q, %v", res.Text, err)
	}
	f, c = checked(t, cfg, args{"url": s.URL, "secret": args{"name": "key"}})
	c.Principal = chela.PrincipalGuest
	if res, err := run(t.Context(), f, c); err != nil || !strings.Contains(res.Text, "belong to the owner") {
		t.Errorf("for a guest: %q, %v", res.Text, err)
	}
	j := f.Judge(c.Args)
	if want := "secret key to " + v.host; len(j.Subjects) != 2 || j.Subjects[1] != want || len(j.Secrets) != 1 || !strings.Contains(j.Preview, "with the secret key as bearer") {
		t.Errorf("judged %+v", j)
	}
}

// TestShortSecret: a value that is too short for the scanner is removed all the same.
func TestShortSecret(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
	cfg := loopback
	cfg.Secrets = &vault{host: strings.TrimPrefix(s.URL, "http://"), value: "p4ss"}
	f, c := checked(t, cfg, args{"url": s.URL, "secret": args{"name": "key"}})
	c.Principal = chela.PrincipalOwner
	if res, err := run(t.Context(), f, c); err != nil || !strings.HasSuffix(res.Text, "Bearer [redacted: key]") {
		t.Errorf("%q, %v", res.Text, err)
	}
}
