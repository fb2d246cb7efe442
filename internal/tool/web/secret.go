package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chela"
	"chela/internal/safety/leak"
	"chela/internal/tool"
)

// placeholder is where a path takes a secret.
const placeholder = "{secret}"

// Ways in which a request holds a secret.
const (
	asBearer = "bearer"
	asBasic  = "basic"
	asHeader = "header"
	asQuery  = "query"
	asPath   = "path"
)

// A secretInput names a secret of the vault that a request needs. The model never
// has its value.
type secretInput struct {
	Name  string `json:"name" jsonschema:"the name of the secret; secret_list shows them"`
	As    string `json:"as,omitempty" jsonschema:"how it is sent; bearer by default" enum:"bearer,basic,header,query,path"`
	Field string `json:"field,omitempty" jsonschema:"with header and query: the name there; with basic: the user name"`
}

// secrets are the secrets that requests may need.
type secrets interface {
	// Send returns the value of a secret for a request to a host, as "name:port", and
	// records the use. It is Denied unless the secret is bound to the host.
	Send(ctx context.Context, name chela.SecretName, use chela.SecretUse) (string, error)
}

// check returns why a request cannot hold the secret, worded for the model.
func (s secretInput) check(in httpInput, u *url.URL) error {
	taken := func(name string) bool {
		for have := range in.Headers {
			if http.CanonicalHeaderKey(have) == http.CanonicalHeaderKey(name) {
				return true
			}
		}
		return false
	}
	wrong := func(why string) error { return chela.E(chela.Invalid, "secret: "+why) }
	switch places := strings.Count(u.Path, placeholder); {
	case !chela.SecretName(s.Name).Valid():
		return wrong("this is not the name of a secret; secret_list shows the names")
	case s.As == asPath && places != 1:
		return wrong("with as=path the path of the URL holds " + placeholder + " once, where the secret goes")
	case s.As == asHeader && (!header().MatchString(s.Field) || slices.Contains(refused, http.CanonicalHeaderKey(s.Field))):
		return wrong("with as=header, field is the name of a header")
	case s.As == asHeader && taken(s.Field), (s.As == "" || s.As == asBearer || s.As == asBasic) && taken("Authorization"):
		return wrong("the header that it goes to is set by headers too; leave it out there")
	case s.As == asQuery && (s.Field == "" || u.Query().Has(s.Field)):
		return wrong("with as=query, field is the name of a parameter that the URL does not have")
	case s.As == asBasic && (strings.Contains(s.Field, ":") || control().MatchString(s.Field)):
		return wrong("with as=basic, field is a user name without colon")
	}
	return nil
}

// put adds the value of the secret to a request.
func (s secretInput) put(req *http.Request, value string) error {
	if control().MatchString(value) && s.As != asQuery && s.As != asPath {
		return chela.E(chela.Invalid, "secret: its value has several lines, which a header cannot have")
	}
	switch s.As {
	case asBasic:
		req.SetBasicAuth(s.Field, value)
	case asHeader:
		req.Header.Set(s.Field, value)
	case asQuery:
		if req.URL.RawQuery != "" {
			req.URL.RawQuery += "&"
		}
		req.URL.RawQuery += url.QueryEscape(s.Field) + "=" + url.QueryEscape(value)
	case asPath:
		before, after, _ := strings.Cut(req.URL.Path, placeholder)
		escaped := func(path string) string { return (&url.URL{Path: path}).EscapedPath() }
		req.URL.Path = before + value + after
		req.URL.RawPath = escaped(before) + url.PathEscape(value) + escaped(after)
	default:
		req.Header.Set("Authorization", "Bearer "+value)
	}
	return nil
}

// hostport returns the host of a URL with its port.
func hostport(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = impliedPort[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// A mask removes the value of a secret from what a server sends. The nil mask changes
// nothing.
type mask struct {
	scanner *leak.Scanner
	short   []string // forms of a value that is too short for the scanner
	name    string
}

// newMask returns the mask of a secret.
func newMask(s secretInput, value string) *mask {
	m := &mask{scanner: leak.New(leak.Value{Name: s.Name, Text: value}), name: s.Name}
	if len(value) < leak.MinValue {
		m.short = []string{value, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))}
	}
	if s.As == asBasic {
		m.short = append(m.short, base64.StdEncoding.EncodeToString([]byte(s.Field+":"+value)))
	}
	return m
}

// text returns a text without the value.
func (m *mask) text(text string) string {
	if m == nil {
		return text
	}
	mark := "[redacted: " + m.name + "]"
	var b strings.Builder
	at := 0
	for _, f := range m.scanner.Find(text) {
		if f.Exact {
			b.WriteString(text[at:f.Start] + mark)
			at = f.End
		}
	}
	text = b.String() + text[at:]
	for _, form := range m.short {
		text = strings.ReplaceAll(text, form, mark)
	}
	return text
}

// holds reports whether a text holds the value.
func (m *mask) holds(text string) bool { return m != nil && m.text(text) != text }

// equip puts the secret of a call into its request, and returns its mask; nil for a
// call without one.
func (f fetcher) equip(req *http.Request, call tool.Call[httpInput]) (*mask, error) {
	s := call.In.Secret
	switch {
	case s == nil:
		return nil, nil
	case f.cfg.Secrets == nil || call.Principal != chela.PrincipalOwner:
		return nil, chela.E(chela.Denied, "secret: the secrets belong to the owner, and this turn acts for somebody else")
	}
	if err := s.check(call.In, req.URL); err != nil {
		return nil, err
	}
	use := chela.SecretUse{Purpose: "http", Host: hostport(req.URL), Session: call.Session, Turn: call.Turn}
	value, err := f.cfg.Secrets.Send(req.Context(), chela.SecretName(s.Name), use)
	if err != nil {
		return nil, err
	}
	m := newMask(*s, value)
	if in := call.In; m.holds(in.URL) || m.holds(in.Body) {
		return nil, chela.E(chela.Denied, "secret: the request itself holds the value of the secret")
	}
	return m, s.put(req, value)
}

// safeError returns an error whose message does not hold the value.
func (m *mask) safeError(err error) error {
	if err == nil || !m.holds(err.Error()) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return chela.E(chela.KindOf(err), m.text(chela.MessageOf(err)))
}
