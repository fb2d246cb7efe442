package egress

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"chela"
)

// A Request is a request of a run, to be decided about.
type Request struct {
	Method string // CONNECT for a connection that is not read
	Host   string // the name and port, canonical
	Path   string // empty for a connection that is not read
}

// A Record is the outcome of one request, for the audit.
type Record struct {
	Request
	At       time.Time
	Secrets  []string // the names of those that were put in
	Status   int      // of the answer; 0 for a connection that is not read
	Sent     int64    // bytes to the host
	Received int64    // bytes from it
	Refused  string   // why the request was refused; empty if it was not
}

// A Secret is a credential that a run may use.
type Secret struct {
	Name  string
	Value string
	Hosts []string // patterns: "api.example.com", "*.example.com", with an optional ":port"

	// Variable is the variable of the environment that holds the sentinel; empty for
	// none.
	Variable string
}

// Limits bound a run. A zero field is the default.
type Limits struct {
	Bytes       int64         // in both directions together; default 2 GiB
	Connections int           // at once; default 64
	Idle        time.Duration // without a byte in either direction; default 2 minutes
}

// Config holds the options of a [Run].
type Config struct {
	Rules []Rule

	// Allow decides about a request that no rule covers; nil denies it. It may
	// wait for a person until ctx is done. An error other than [chela.Denied] is
	// reported as a failure of the proxy.
	Allow   func(ctx context.Context, r Request) error
	Secrets []Secret
	Record  func(Record) // may be nil
	Limits  Limits
}

// A Run is the network of one sandbox. It is safe for concurrent use.
type Run struct {
	proxy     *Proxy
	hosts     *http.Transport // for requests that the proxy reads
	config    Config
	token     [32]byte // the hash of the token
	plain     string
	authority *authority // made on first use
	sentinels map[string]Secret

	mu          sync.Mutex
	transferred int64
	cancels     map[int]func() // of open connections
	next        int
	closed      bool
}

var (
	errEnded = chela.E(chela.Unavailable, "the command has ended")
	errBytes = chela.E(chela.Exhausted, "the command has transferred as much as its network limit allows")
)

func newRun(p *Proxy, c Config) *Run {
	if c.Limits.Bytes <= 0 {
		c.Limits.Bytes = 2 << 30
	}
	if c.Limits.Connections <= 0 {
		c.Limits.Connections = 64
	}
	if c.Limits.Idle <= 0 {
		c.Limits.Idle = 2 * time.Minute
	}
	r := &Run{proxy: p, hosts: p.transport(), config: c, plain: rand.Text() + rand.Text(), sentinels: map[string]Secret{}, cancels: map[int]func(){}}
	r.token = sha256.Sum256([]byte(r.plain))
	for _, s := range c.Secrets {
		r.sentinels[r.Sentinel(s.Name)] = s
	}
	return r
}

// sentinelPrefix begins every sentinel, so that a leaked one is recognized.
const sentinelPrefix = "chela-secret-"

// Sentinel returns the text that stands for a secret in this run. It is
// authenticated by the run's token, so that a sentinel of another run, or one
// that a program made up, stands for nothing.
func (r *Run) Sentinel(name string) string {
	mac := hmac.New(sha256.New, r.token[:])
	mac.Write([]byte("sentinel\x00" + name))
	return sentinelPrefix + hex.EncodeToString(mac.Sum(nil)[:20])
}

// Token is the credential of the run at the proxy.
func (r *Run) Token() string { return r.plain }

// authorized reports, in constant time, whether a header proves the run's token.
func (r *Run) authorized(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return hmac.Equal(sum[:], r.token[:])
}

// proxyToken returns the token of a request: the password of Basic, or Bearer.
func proxyToken(h http.Header) string {
	scheme, value, _ := strings.Cut(h.Get("Proxy-Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		return value
	case strings.EqualFold(scheme, "basic"):
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return ""
		}
		_, password, _ := strings.Cut(string(raw), ":")
		return password
	default:
		return ""
	}
}

// Serve accepts connections of the run from l until ctx is done, and returns when
// all of them have ended. The tokens of other runs do not count there.
func (r *Run) Serve(ctx context.Context, l net.Listener) error { return r.proxy.accept(ctx, l, r) }

// Authority returns the certificate, as PEM, that programs of the run must trust
// besides those of the system.
func (r *Run) Authority() ([]byte, error) {
	a, err := r.authorityAt(r.proxy.now)
	if err != nil {
		return nil, err
	}
	return a.pem(), nil
}

// Environment returns the variables by which programs use the proxy at
// "host:port" as the run, and trust the certificates in the file bundle; empty for
// those of the system.
func (r *Run) Environment(address, bundle string) []string {
	var env []string
	for _, s := range r.config.Secrets {
		if s.Variable != "" {
			env = append(env, s.Variable+"="+r.Sentinel(s.Name))
		}
	}
	return append(env, Environment("http://run:"+r.plain+"@"+address, bundle)...)
}

// Close ends all connections of the run. No later one is accepted.
func (r *Run) Close() {
	defer r.hosts.CloseIdleConnections()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, cancel := range r.cancels {
		cancel()
	}
}

func (r *Run) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// enter counts a connection, which cancel ends, and returns its release.
func (r *Run) enter(cancel func()) (release func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errEnded
	case r.transferred >= r.config.Limits.Bytes:
		return nil, errBytes
	case len(r.cancels) >= r.config.Limits.Connections:
		return nil, chela.E(chela.Exhausted, "the command has too many connections at once")
	}
	id := r.next
	r.next++
	r.cancels[id] = cancel
	return func() {
		r.mu.Lock()
		delete(r.cancels, id)
		r.mu.Unlock()
	}, nil
}

// count adds transferred bytes, and fails beyond the limit.
func (r *Run) count(n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transferred += int64(n)
	if r.transferred > r.config.Limits.Bytes {
		return errBytes
	}
	return nil
}

// boundTo reports whether the secret may be sent to a canonical "host:port".
func (s Secret) boundTo(hostport string) bool { return BoundTo(s.Hosts, hostport) }

// BoundTo reports whether one of a secret's patterns matches a canonical
// "host:port". Port 80, whose requests are not encrypted, must be named.
func BoundTo(patterns []string, hostport string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		_, _, named := cutPort(pattern)
		return MatchHost(pattern, hostport) && (named || port(hostport) != "80")
	})
}

// MatchHost reports whether a pattern covers a canonical "host:port". A pattern
// is a host name, "*." and a host name for all names below it, or "*" for all,
// and may name a port; without one it covers the ports 80 and 443.
func MatchHost(pattern, hostport string) bool {
	host, port, ok := cutPort(hostport)
	if !ok {
		return false
	}
	wantHost, wantPort, named := cutPort(strings.ToLower(pattern))
	if !named {
		wantHost = strings.ToLower(pattern)
	}
	switch {
	case named && wantPort != port && wantPort != "*", !named && port != "80" && port != "443":
		return false
	case wantHost == "*":
		return true
	case strings.HasPrefix(wantHost, "*."):
		return strings.HasSuffix(host, wantHost[1:]) && len(host) > len(wantHost)-1
	default:
		return host == wantHost
	}
}

// cutPort splits "host:port" and "[v6]:port".
func cutPort(hostport string) (host, port string, ok bool) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.HasSuffix(hostport, "]") || strings.Count(hostport, ":") > 1 && !strings.HasPrefix(hostport, "[") {
		return hostport, "", false
	}
	return strings.Trim(hostport[:i], "[]"), hostport[i+1:], true
}
