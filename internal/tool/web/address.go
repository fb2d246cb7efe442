package web

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// A badURL is why a URL is not requested, worded for the model.
type badURL string

func (e badURL) Error() string { return string(e) }

// parseURL parses and checks a URL and returns its canonical form, which is
// judged, matched by patterns and requested. Its error is written for the
// model.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("url: %.200q is not a URL; write it as https://host/path", text)
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
		return nil, badURL(fmt.Sprintf("url: only http and https can be used, not %.20q", u.Scheme))
	case strings.TrimSuffix(u.Hostname(), ".") == "":
		return nil, badURL("url: the host is missing; write it as https://host/path")
	case u.User != nil:
		return nil, badURL("url: a name or password does not belong into it; use a header")
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
		return nil, badURL("url: the path has a broken escape")
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
	return badURL(fmt.Sprintf("url: port %.10s cannot be used; only 80, 443 and those from 1024 can", u.Port()))
}

// hosts maps names as browsers do (UTS 46): case, width and compatibility
// characters are folded, other scripts become punycode. canonicalHost checks
// ASCII characters, because names with "_" exist.
var hosts = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(false), idna.Transitional(false),
)

// canonicalHost returns the canonical form of a host, used for comparison: an
// address as netip writes it, an IPv6 address in brackets, or a name in lower
// case and ASCII, without a trailing dot.
func canonicalHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		if addr = addr.Unmap(); addr.Is6() {
			return "[" + addr.String() + "]", nil
		}
		return addr.String(), nil
	}
	name, err := hosts.ToASCII(host)
	name = strings.TrimSuffix(name, ".")
	if err != nil || name == "" || len(name) > 253 || strings.ContainsFunc(name, notInHosts) || strings.Contains("."+name+".", "..") {
		return "", badURL(fmt.Sprintf("url: %.100q is not the name of a host", host))
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; numeric(last) {
		return "", badURL(fmt.Sprintf("url: %.100q is an address in an odd form; write it as 192.0.2.1 or [2001:db8::1]", host))
	}
	return name, nil
}

func notInHosts(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
}

// numeric reports whether the last label of a name is a decimal, octal or
// hexadecimal number, so that programs take the name for an address.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// canonicalPath writes the escapes of a path in upper case, and decodes
// unneeded ones: "/%76%31/%2e%2e" is "/v1/..".
func canonicalPath(escaped string) string {
	return escape.ReplaceAllStringFunc(escaped, func(found string) string {
		if c, err := url.PathUnescape(found); err == nil && unreserved.MatchString(c) {
			return c
		}
		return strings.ToUpper(found)
	})
}

// unreserved matches a character that needs no escape.
var unreserved = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)

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
