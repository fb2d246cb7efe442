package web

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"chela"
)

// maxRedirects is how many redirects one call follows.
const maxRedirects = 10

// A guard decides which machines may be reached. The address is checked when
// the connection is made, after the name was resolved, so that neither a name
// that resolves to a private address nor one that changes its mind gets
// through.
type guard struct {
	hosts  map[string]bool // names that are reached whatever their address
	dialer net.Dialer      // refuses what is not public
	open   net.Dialer      // for hosts
}

// newGuard returns a guard that lets allow through in addition to what is
// public: host names, addresses and prefixes.
func newGuard(allow []string, resolver *net.Resolver) (*guard, error) {
	g := &guard{hosts: map[string]bool{}}
	var v4, v6 []netip.Prefix
	for _, a := range allow {
		p, err := netip.ParsePrefix(a)
		if err != nil {
			if addr, addrErr := netip.ParseAddr(a); addrErr == nil {
				p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
		}
		switch {
		case err == nil && p.Addr().Is4():
			v4 = append(v4, p)
		case err == nil:
			v6 = append(v6, p)
		case a == "" || strings.ContainsAny(a, "/ "):
			return nil, chela.E(chela.Invalid, fmt.Sprintf("%q is no host, address or prefix", a))
		default:
			g.hosts[hostKey(a)] = true
		}
	}
	control := ssrf.New(
		ssrf.WithAnyPort(), // checkURL knows about ports
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
	)
	g.open = net.Dialer{Timeout: 10 * time.Second, Resolver: resolver}
	g.dialer = g.open
	g.dialer.Control = control.Safe
	return g, nil
}

// hostKey returns host in the form in which hosts are compared.
func hostKey(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// dial connects to address, which http gives as host:port.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if g.hosts[hostKey(host)] {
		return g.open.DialContext(ctx, network, address)
	}
	return g.dialer.DialContext(ctx, network, address)
}

// client returns a client that goes through the guard. It uses no proxy, keeps
// no connection and no cookie.
func (g *guard) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            g.dial,
			DisableKeepAlives:      true, // nothing is left running after a call
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: checkRedirect,
	}
}

// parseURL reads and checks a URL. Its error is for the model.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("url: %.200q is not a URL; write it as https://host/path", text)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	u.Host = strings.ToLower(u.Host)
	u.Fragment = ""
	if err := checkURL(u); err != nil {
		return nil, err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Host = plainHost(u)
	return u.ResolveReference(u), nil // without . and .. in the path
}

// plainHost returns the host of u without what says nothing: the dot at the end
// and the usual port. A pattern that names a host must see all its spellings.
func plainHost(u *url.URL) string {
	host, port := strings.TrimSuffix(u.Hostname(), "."), u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return host
}

// A badURL is why a URL is not asked for, in words for the model.
type badURL string

func (e badURL) Error() string { return string(e) }

// checkURL refuses what is never asked for, wherever the URL comes from.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return badURL(fmt.Sprintf("url: only http and https can be used, not %.20q", u.Scheme))
	case strings.TrimSuffix(u.Hostname(), ".") == "":
		return badURL("url: the host is missing; write it as https://host/path")
	case u.User != nil:
		return badURL("url: a name or password does not belong into it; use a header")
	}
	return checkPort(u)
}

// checkPort lets the ports of the web through, and those that no system
// service has: a request must not speak to a mail server.
func checkPort(u *url.URL) error {
	port, err := strconv.Atoi(cmp.Or(u.Port(), "80"))
	if err == nil && (port == 80 || port == 443 || port >= 1024 && port <= 65535) {
		return nil
	}
	return badURL(fmt.Sprintf("url: port %.10s cannot be used; only 80, 443 and those from 1024 can", u.Port()))
}

// safeHeaders go along to another host. Everything else that a call names may
// hold a credential.
var safeHeaders = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// checkRedirect is asked before each redirect is followed. What changes another
// machine is not repeated on a host that nobody agreed to.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return badURL(fmt.Sprintf("there are more than %d redirects", maxRedirects))
	}
	if err := checkURL(req.URL); err != nil {
		return err
	}
	first := via[0].URL
	left := !sameOrigin(req.URL, first)
	for _, v := range via {
		left = left || !sameOrigin(v.URL, first)
	}
	if !left {
		return nil
	}
	if !harmless(req.Method) {
		return http.ErrUseLastResponse
	}
	kept := http.Header{}
	for _, name := range safeHeaders {
		if v := req.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	req.Header = kept
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// harmless reports whether method only asks.
func harmless(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
