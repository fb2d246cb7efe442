package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"chela"
)

// maxRedirects is how many redirects one call follows.
const maxRedirects = 10

// A guard decides which machines may be reached. It checks the address at
// connect time, after the name was resolved, so that neither a name that
// resolves to a private address nor DNS rebinding gets through.
type guard struct {
	hosts  map[string]bool // names that may be reached at any address
	dialer net.Dialer      // refuses addresses that are not public
	open   net.Dialer      // for hosts
}

// newGuard returns a guard that accepts public addresses and allow: host names,
// addresses and prefixes.
func newGuard(allow []string, resolver *net.Resolver) (*guard, error) {
	g := &guard{hosts: map[string]bool{}}
	var v4, v6 []netip.Prefix
	for _, a := range allow {
		p, err := netip.ParsePrefix(a)
		if addr, addrErr := netip.ParseAddr(a); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		switch {
		case err == nil && p.Addr().Is4():
			v4 = append(v4, p)
		case err == nil:
			v6 = append(v6, p)
		default:
			name, err := canonicalHost(a)
			if err != nil || strings.ContainsAny(a, "/ ") {
				return nil, chela.E(chela.Invalid, fmt.Sprintf("%q is no host, address or prefix", a))
			}
			g.hosts[name] = true
		}
	}
	control := ssrf.New(
		ssrf.WithAnyPort(), // checkPort has checked the port
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
	)
	g.open = net.Dialer{Timeout: 10 * time.Second, Resolver: resolver}
	g.dialer = g.open
	g.dialer.Control = control.Safe
	return g, nil
}

// dial connects to address, which http passes as host:port.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if g.hosts[host] { // canonical, as the URL was
		return g.open.DialContext(ctx, network, address)
	}
	return g.dialer.DialContext(ctx, network, address)
}

// client returns a client that dials through the guard. It uses no proxy, keeps
// no connection and no cookie. The caller sets the redirect policy.
func (g *guard) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            g.dial,
			DisableKeepAlives:      true, // no goroutine outlives the call
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

// A redirector follows the redirects of one call.
type redirector struct {
	url  *url.URL // of the call, canonical
	rule func(context.Context, chela.Judgement) (chela.Verdict, error)
	left *url.URL // the redirect that was not followed; nil for none
}

// check is called before each redirect. It follows redirects within the scope
// granted to the call, and redirects that the policy allows without asking; any
// other redirect is the result of the call. Headers are sent only to the host
// that they were given for.
func (r *redirector) check(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return badURL(fmt.Sprintf("there are more than %d redirects", maxRedirects))
	}
	next, err := canonicalURL(req.URL)
	if err != nil {
		return err
	}
	follows, err := r.follows(req, next)
	if err != nil {
		return err
	}
	if !follows {
		r.left = next
		return http.ErrUseLastResponse
	}
	req.URL, req.Host = next, next.Host
	for _, v := range append(via, req) {
		if !sameOrigin(v.URL, r.url) {
			req.Header = http.Header{"User-Agent": {agentName}}
		}
	}
	return nil
}

// follows applies the policy of the call to a redirect. A request that changes
// something is never repeated on another host, and on the same host only if the
// policy allows it.
func (r *redirector) follows(req *http.Request, next *url.URL) (bool, error) {
	if !harmless(req.Method) && !sameOrigin(next, r.url) {
		return false, nil
	}
	verdict := chela.Ask
	if r.rule != nil {
		var err error
		if verdict, err = r.rule(req.Context(), judgeURL(req.Method, next)); err != nil {
			return false, fmt.Errorf("judge a redirect: %w", err)
		}
	}
	switch verdict {
	case chela.Allow:
		return true, nil
	case chela.Ask:
		return harmless(req.Method) && within(r.url, next), nil
	default:
		return false, nil
	}
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// harmless reports whether method only reads.
func harmless(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
