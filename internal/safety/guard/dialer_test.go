package guard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"chela"
	"chela/internal/safety/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A network is a fake resolver with a fake network behind it. Names have a list
// of answers: a look-up gets the next one, and then the last one again.
type network struct {
	answers map[string][]string // addresses separated by blanks
	connect func(ctx context.Context, address string) (net.Conn, error)

	mu      sync.Mutex
	lookups map[string]int
	dialed  []string
}

// public is an address of the fake network.
const public = "93.184.216.34"

func newNetwork() *network {
	return &network{lookups: map[string]int{}, answers: map[string][]string{
		"public.example":               {public},
		"dual.example":                 {"2606:2800:220:1::1 " + public},
		"private.example":              {"10.0.0.1"},
		"mapped.example":               {"::ffff:192.168.0.1"},
		"mapped-public.example":        {"::ffff:" + public},
		"zone.example":                 {"2606:2800:220:1::1%eth0"},
		"nat64.example":                {"64:ff9b::a00:1"},
		"mixed.example":                {"127.0.0.1 " + public},
		"mixed-last.example":           {public + " 2606:2800:220:1::1 169.254.169.254"},
		"rebind.example":               {public, "127.0.0.1"},
		"metadata.tencentyun.example":  {"169.254.0.23"},
		"metadata.google.internal":     {public}, // though it resolves to a public address
		"localhost":                    {public},
		"intern.example":               {"10.0.0.7"},
		"xn--bcher-kva.example":        {public},
		"1.2.3.4.public.example":       {public},
		"127.0.0.1.public.example":     {public},
		"metadata.google.internal.com": {public},
	}}
}

func (n *network) dialer(t *testing.T, allow ...string) *guard.Dialer {
	t.Helper()
	d, err := guard.New(guard.Config{Allow: allow, Lookup: n.lookup, Connect: n.dial})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lookup resolves numbers as the C library does: that the guard refuses them
// must not depend on the resolver.
func (n *network) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, ok := n.answers[host]
	if !ok && strings.ContainsAny(host, "0123456789") {
		answers, ok = []string{"127.0.0.1"}, true
	}
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	at := min(n.lookups[host], len(answers)-1)
	n.lookups[host]++
	var addrs []netip.Addr
	for text := range strings.FieldsSeq(answers[at]) {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	if n.connect != nil {
		return n.connect(ctx, address)
	}
	near, far := net.Pipe()
	_ = far.Close()
	return near, nil
}

// reach dials a host, and returns to which addresses a connection was tried.
func (n *network) reach(t *testing.T, d *guard.Dialer, host string) ([]string, error) {
	t.Helper()
	n.mu.Lock()
	n.dialed = nil
	n.mu.Unlock()
	conn, err := d.Dial(t.Context(), "tcp", net.JoinHostPort(host, "80"))
	if err == nil {
		_ = conn.Close()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed, err
}

// refused returns the hosts of testdata/refused.txt as a URL's Hostname has them.
func refused(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		u, err := url.Parse("http://" + line)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, u.Hostname())
	}
	if len(hosts) < 100 {
		t.Fatalf("there are %d hosts", len(hosts))
	}
	return hosts
}

// TestRefusedHosts: nothing is tried, and all are refused with one kind, without
// the address that a name stands for.
func TestRefusedHosts(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	d := n.dialer(t)
	for _, host := range refused(t) {
		dialed, err := n.reach(t, d, host)
		if chela.KindOf(err) != chela.Denied || len(dialed) > 0 {
			t.Errorf("%s: got %v after connecting to %v, want it denied", host, err, dialed)
		}
		if strings.Contains(host, ".example") && strings.ContainsAny(chela.MessageOf(err), "0123456789") && host != "nat64.example" {
			t.Errorf("%s: the message tells an address: %v", host, err)
		}
		if chela.HintOf(err) == "" && !strings.Contains(chela.MessageOf(err), "; ") {
			t.Errorf("%s: %v does not say what to do", host, err)
		}
	}
	if _, err := n.reach(t, d, "zone.example"); chela.KindOf(err) != chela.Denied {
		t.Errorf("an answer with a zone: got %v, want it denied", err)
	}
	_, err := n.reach(t, d, "10.0.0.1")
	if !strings.Contains(chela.HintOf(err), "tools.http_allow") {
		t.Errorf("the hint is %q, want it to name the setting", chela.HintOf(err))
	}
}

func TestPublicHosts(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	d := n.dialer(t)
	for _, host := range []string{
		public, "8.8.8.8", "::ffff:8.8.8.8", "2606:2800:220:1::1", "public.example", "Public.Example.", "bücher.example",
		"mapped-public.example", "1.2.3.4.public.example", "127.0.0.1.public.example", "metadata.google.internal.com",
	} {
		if dialed, err := n.reach(t, d, host); err != nil || len(dialed) != 1 {
			t.Errorf("%s: got %v after connecting to %v, want one connection", host, err, dialed)
		}
	}
	for _, host := range []string{"missing.example-tld", "a..b", "a b", "", "x/y", "a%2e.b"} {
		if _, err := n.reach(t, d, host); !slices.Contains([]chela.Kind{chela.NotFound, chela.Invalid}, chela.KindOf(err)) {
			t.Errorf("%q: got %v, want it not found or invalid", host, err)
		}
	}
}

// TestRebinding: the address that is connected to is the one that was checked,
// whatever the next look-up answers.
func TestRebinding(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	d := n.dialer(t)
	dialed, err := n.reach(t, d, "rebind.example")
	if diff := cmp.Diff([]string{public + ":80"}, dialed); diff != "" || err != nil || n.lookups["rebind.example"] != 1 {
		t.Errorf("%v, %d look-ups (-want +got)\n%s", err, n.lookups["rebind.example"], diff)
	}
	if dialed, err = n.reach(t, d, "rebind.example"); chela.KindOf(err) != chela.Denied || len(dialed) > 0 {
		t.Errorf("the second time: got %v after connecting to %v", err, dialed)
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	d := n.dialer(t, "Intern.example.", "192.168.0.0/24", "127.0.0.1", "::1", "64:ff9b::/96", "localhost")
	for host, want := range map[string]bool{
		"intern.example": true, "INTERN.example.": true, "192.168.0.9": true, "127.0.0.1": true, "::ffff:127.0.0.1": true, "::1": true, "localhost": true,
		"64:ff9b::808:808": true, "64:ff9b::127.0.0.1": true,
		"10.0.0.7": false, "private.example": false, "192.168.1.9": false, "127.0.0.2": false, "64:ff9b::a00:1": false, "127.1": false, "sub.localhost": false,
	} {
		if _, err := n.reach(t, d, host); (err == nil) != want || err != nil && chela.KindOf(err) != chela.Denied {
			t.Errorf("%s: got %v, want it reached: %v", host, err, want)
		}
	}
	for _, bad := range []string{"10.0.0.0/99", "a b", "", "http://intern.example/", "10.1"} {
		if _, err := guard.New(guard.Config{Allow: []string{bad}}); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%q: got %v, want it invalid", bad, err)
		}
	}
}

// TestSecondAddress: an address that fails or is silent is followed by the next.
func TestSecondAddress(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(context.Context) error{
		"refused": func(context.Context) error { return errors.New("refused") },
		"silent":  func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				n.connect = func(ctx context.Context, address string) (net.Conn, error) {
					if !strings.HasPrefix(address, public) {
						return nil, first(ctx)
					}
					near, far := net.Pipe()
					_ = far.Close()
					return near, nil
				}
				began := time.Now()
				dialed, err := n.reach(t, n.dialer(t), "dual.example")
				if err != nil || len(dialed) != 2 || time.Since(began) > time.Second {
					t.Errorf("got %v after connecting to %v for %s", err, dialed, time.Since(began))
				}
			})
		})
	}
}

// TestLateConnection: a connection that comes when another one was chosen is
// closed.
func TestLateConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		late, other := net.Pipe()
		n.connect = func(ctx context.Context, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, public) {
				<-ctx.Done()
				return late, nil
			}
			near, far := net.Pipe()
			_ = far.Close()
			return near, nil
		}
		if _, err := n.reach(t, n.dialer(t), "dual.example"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the late connection: got %v, want it closed", err)
		}
	})
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.connect = func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		if _, err := n.reach(t, n.dialer(t), "dual.example"); chela.KindOf(err) != chela.Unavailable || !strings.Contains(err.Error(), "did not answer within") {
			t.Errorf("a silent host: got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := n.dialer(t).Dial(ctx, "tcp", "public.example:80"); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: got %v", err)
		}
	})
}

// TestTransport: the environment names no proxy that requests go through.
func TestTransport(t *testing.T) {
	t.Parallel()
	if tr := newNetwork().dialer(t).Transport(); tr.Proxy != nil || !tr.DisableKeepAlives || tr.DialTLSContext != nil {
		t.Errorf("the transport has a way of its own: %+v", tr)
	}
	client := http.Client{Transport: newNetwork().dialer(t).Transport()}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://private.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	if chela.KindOf(err) != chela.Denied {
		t.Errorf("got %v, want it denied", err)
	}
}

// FuzzCanonicalHost: the canonical form of a host is its own canonical form, and
// no spelling of an address that the guard would refuse becomes a name.
func FuzzCanonicalHost(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "0x7f.1", "１２７.1", "::ffff:1.2.3.4", "Bücher.example.", "fe80::1%eth0", "a_b", "1.2.3.4.", "xn--a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		once, err := guard.CanonicalHost(host)
		if err != nil {
			return
		}
		twice, err := guard.CanonicalHost(once)
		if err != nil || twice != once {
			t.Fatalf("%q is %q and then %q, %v", host, once, twice, err)
		}
		if addr, err := netip.ParseAddr(once); err == nil && addr.Is4In6() {
			t.Errorf("%q is the mapped address %q", host, once)
		}
	})
}
