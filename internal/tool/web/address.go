package web

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"chela"
	"chela/internal/platform/lazyregexp"
	"chela/internal/safety/guard"
)

// parseURL parses and checks a URL and returns its canonical form, which is
// judged, matched by patterns and requested. Its error is written for the
// model.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, chela.Ef(chela.Invalid, "url: %.200q is not a URL; write it as https://host/path", text)
	}
	return canonicalURL(u)
}

// canonicalURL returns the canonical form that all spellings of a URL share:
// scheme and host as canonicalHost writes them, without the scheme's default
// port, escapes only where a character needs one, no "." and ".." in the path
// and no fragment. It refuses URLs that are never requested, whatever their
// source.
func canonicalURL(u *url.URL) (*url.URL, error) {
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return nil, chela.Ef(chela.Invalid, "url: only http and https can be used, not %.20q", u.Scheme)
	case strings.TrimSuffix(u.Hostname(), ".") == "":
		return nil, chela.E(chela.Invalid, "url: the host is missing; write it as https://host/path")
	case u.User != nil:
		return nil, chela.E(chela.Invalid, "url: a name or password does not belong into it; use a header")
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	if port := u.Port(); port != "" && port != impliedPort[scheme] {
		host += ":" + port
	}
	c := &url.URL{Scheme: scheme, Host: host, RawQuery: canonicalQuery(u.RawQuery)}
	c.RawPath = canonicalPath(cmp.Or(u.EscapedPath(), "/"))
	if c.Path, err = url.PathUnescape(c.RawPath); err != nil {
		return nil, chela.E(chela.Invalid, "url: the path has a broken escape")
	}
	return c.ResolveReference(c), nil // without . and .. in the path
}

var impliedPort = map[string]string{"http": "80", "https": "443"}

// checkPort accepts the ports of the web, and ports that no system service
// uses: a request must not reach a mail server.
func checkPort(u *url.URL) error {
	port, err := strconv.Atoi(cmp.Or(u.Port(), "80"))
	if err == nil && (port == 80 || port == 443 || port >= 1024 && port <= 65535) {
		return nil
	}
	return chela.Ef(chela.Invalid, "url: port %.10s cannot be used; only 80, 443 and those from 1024 can", u.Port())
}

// canonicalHost returns the canonical form of a host as it stands in a URL: with
// brackets around an IPv6 address.
func canonicalHost(host string) (string, error) {
	name, err := guard.CanonicalHost(host)
	switch {
	case err != nil:
		return "", chela.E(chela.KindOf(err), "url: "+chela.MessageOf(err))
	case strings.Contains(name, ":"):
		return "[" + name + "]", nil
	default:
		return name, nil
	}
}

var escape = lazyregexp.New("%[0-9A-Fa-f]{2}")

// canonicalPath writes the escapes of a path in upper case, and decodes
// unneeded ones: "/%76%31/%2e%2e" is "/v1/..".
func canonicalPath(escaped string) string {
	return escape().ReplaceAllStringFunc(escaped, func(found string) string {
		if c, err := url.PathUnescape(found); err == nil && unreserved().MatchString(c) {
			return c
		}
		return strings.ToUpper(found)
	})
}

// unreserved matches a character that needs no escape.
var unreserved = lazyregexp.New(`^[A-Za-z0-9._~-]$`)

// canonicalQuery escapes the characters that a query cannot contain.
func canonicalQuery(query string) string {
	var b strings.Builder
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// ambiguous reports whether servers may disagree on the file that the path of a
// canonical URL names, so that no prefix of it can be trusted.
func ambiguous(u *url.URL) bool {
	escaped := u.EscapedPath()
	for _, part := range []string{"%2F", "%5C", "%25", ".."} {
		if strings.Contains(escaped, part) {
			return true
		}
	}
	return false
}

// subject returns the text that patterns match for a request of a canonical
// URL. "*" is written as an escape: in a pattern it is a wildcard, in a URL a
// character. Parameters whose names mark them as secret are replaced by their
// length, as subjects are stored and shown.
func subject(method string, u *url.URL) string {
	shown := *u
	shown.RawQuery = maskQuery(u.RawQuery)
	return method + " " + starless(shown.String())
}

func starless(text string) string { return strings.ReplaceAll(text, "*", "%2A") }

// prefix returns the part of a canonical URL that a standing answer covers: the
// scheme, the host and the first folder of the path, which separates the
// tenants of a shared host.
func prefix(u *url.URL) string {
	folder, _, deeper := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	base := u.Scheme + "://" + u.Host + "/"
	if !deeper || folder == "" {
		return base
	}
	return base + starless(folder) + "/"
}

// within reports whether a request of next stays within the scope of the
// request of u.
func within(u, next *url.URL) bool {
	return !ambiguous(next) && strings.HasPrefix(starless(next.String()), prefix(u))
}
