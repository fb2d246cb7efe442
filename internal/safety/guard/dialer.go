package guard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"chela"
)

// Config holds the options of a [Dialer]. The zero value allows public addresses.
type Config struct {
	Allow []string // host names, addresses and prefixes that may be reached although they are not public

	// Lookup returns the addresses of a name; by default those that the system
	// knows. Connect connects to "address:port"; by default over TCP.
	Lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Dialer connects to public addresses and to those that the owner allowed. It
// is safe for concurrent use.
type Dialer struct {
	hosts    map[string]bool // names that may be reached at any address
	prefixes []netip.Prefix
	public   *ssrf.Guardian
	config   Config
}

// timeout bounds a look-up with the connection after it.
const timeout = 10 * time.Second

// New returns a Dialer. It fails with Invalid if c.Allow cannot be parsed.
func New(c Config) (*Dialer, error) {
	if c.Lookup == nil {
		c.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Connect == nil {
		c.Connect = new(net.Dialer).DialContext
	}
	d := &Dialer{hosts: map[string]bool{}, config: c, public: ssrf.New(
		ssrf.WithAnyPort(), // callers know which ports are of use
		ssrf.WithDeniedV4Prefixes(deniedV4...),
	)}
	for _, a := range c.Allow {
		p, err := netip.ParsePrefix(a)
		if addr, addrErr := netip.ParseAddr(a); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err == nil {
			d.prefixes = append(d.prefixes, p.Masked())
			continue
		}
		name, err := CanonicalHost(a)
		if err != nil || strings.ContainsAny(a, "/ ") {
			return nil, chela.E(chela.Invalid, fmt.Sprintf("%q is no host, address or prefix", a))
		}
		d.hosts[name] = true
	}
	return d, nil
}

// deniedV4 are public addresses with services of one cloud's machines.
var deniedV4 = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure
}

// deniedNames are names of metadata services and of this machine, whatever they
// resolve to.
var deniedNames = []string{"metadata.google.internal", "metadata.goog", "metadata", "instance-data", "localhost"}

// nat64 is the well-known prefix of IPv4 addresses within IPv6 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// refusal is the error about a host that may not be reached. It does not tell
// the address, which would reveal the network that chela runs in.
func refusal(host string) error {
	return chela.E(chela.Denied, host+" is not a public address").
		WithHint("only the owner can allow it, in the setting tools.http_allow")
}

// Dial connects to "host:port". It fails with Denied if the host or one of its
// addresses may not be reached, with NotFound if there is no such name, and
// otherwise with the error of the connection.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, chela.E(chela.Invalid, "the address names no port").Because(err)
	}
	if host, err = CanonicalHost(host); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addrs, err := d.resolve(limited, host)
	if err != nil {
		return nil, err
	}
	conn, err := d.race(limited, network, addrs, port)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, chela.Ef(chela.Unavailable, "%s did not answer within %s", host, timeout).Because(err)
	}
	return conn, err
}

// resolve returns the addresses of a canonical host, if all of them may be
// reached.
func (d *Dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !d.allows(addr) {
			return nil, refusal(host)
		}
		return []netip.Addr{addr}, nil
	}
	if !d.hosts[host] && (slices.Contains(deniedNames, host) || strings.HasSuffix(host, ".localhost")) {
		return nil, refusal(host)
	}
	addrs, err := d.config.Lookup(ctx, host)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || len(addrs) == 0:
		return nil, chela.E(chela.NotFound, "the host "+host+" cannot be found").Because(err)
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
		if !d.hosts[host] && !d.allows(addrs[i]) {
			return nil, refusal(host)
		}
	}
	return addrs, nil
}

// allows reports whether an address is public or allowed by the owner. With the
// owner's leave for NAT64 the address within still counts.
func (d *Dialer) allows(addr netip.Addr) bool {
	owner := slices.ContainsFunc(d.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
	if owner && nat64.Contains(addr) {
		b := addr.As16()
		return d.allows(netip.AddrFrom4([4]byte(b[12:])))
	}
	return owner || d.public.SafeAddr(addr) == nil
}

// stagger is how long an attempt is waited for until the next address is tried
// beside it (RFC 8305).
const stagger = 250 * time.Millisecond

// An attempt is the outcome of connecting to one address.
type attempt struct {
	conn net.Conn
	err  error
}

// race connects to one of addrs: it begins with the first, and tries the next
// one when an attempt failed or takes longer than stagger. It returns when no
// attempt is left.
func (d *Dialer) race(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan attempt, len(addrs))
	var won net.Conn
	var failed error
	for open, next := 0, 0; next < len(addrs) || open > 0; {
		var wait <-chan time.Time
		if next < len(addrs) {
			address := net.JoinHostPort(addrs[next].String(), port)
			go func() { // the loop receives from each
				conn, err := d.config.Connect(ctx, network, address)
				results <- attempt{conn, err}
			}()
			open, next = open+1, next+1
			wait = time.After(stagger)
		}
		select {
		case r := <-results:
			open--
			switch {
			case r.err == nil && won == nil:
				won, next = r.conn, len(addrs)
				cancel() // the other attempts
			case r.err == nil:
				_ = r.conn.Close() // it was too late
			case failed == nil:
				failed = r.err
			}
		case <-wait:
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, failed
}

// Transport returns a transport over the dialer. It uses no proxy of the
// environment and keeps no connection, so that no goroutine outlives a request.
func (d *Dialer) Transport() *http.Transport {
	return &http.Transport{
		DialContext:            d.Dial,
		DisableKeepAlives:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}
