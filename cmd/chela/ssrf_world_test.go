package main_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

var ssrfBinary = flag.String("ssrf.binary", "", "the chela to try inside the namespaces of TestInnerAddresses, which passes it to itself")

// isolate is the script that runs a program with a network of its own, in which
// this machine has every address of both families, and with a resolv.conf and a
// hosts file of its own.
const isolate = `
ip link set lo up
ip route add local 0.0.0.0/0 dev lo
ip -6 route add local ::/0 dev lo
mount --bind "$1" /etc/resolv.conf
mount --bind "$2" /etc/hosts
shift 2
exec "$@"
`

// canIsolate skips a test that cannot have namespaces, or lacks a program; where
// CI=true it fails.
func canIsolate(t *testing.T, err error, why []byte) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("no namespaces for network and mounts: %v\n%s", err, why)
	default:
		t.Skipf("no namespaces for network and mounts: %v\n%s", err, why)
	}
}

// inWorld runs a test of this binary again, in the namespaces of a world.
func inWorld(t *testing.T) {
	t.Helper()
	for _, program := range []string{"unshare", "ip", "bash", "curl"} {
		_, err := exec.LookPath(program)
		canIsolate(t, err, nil)
	}
	dir := t.TempDir()
	resolv, hosts := filepath.Join(dir, "resolv.conf"), filepath.Join(dir, "hosts")
	for path, text := range map[string]string{
		resolv: "nameserver 127.0.0.1\nsearch corp.example\noptions ndots:1 timeout:5 attempts:2\n",
		hosts:  "127.0.0.1 localhost\n10.0.0.5 hosts-file.example\n" + publicAddress + " public-hosts-file.example\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	isolated := func(args ...string) ([]byte, error) {
		args = append([]string{"--map-root-user", "--mount", "--net", "--", "sh", "-e", "-c", isolate, "sh", resolv, hosts}, args...)
		return exec.CommandContext(t.Context(), "unshare", args...).CombinedOutput()
	}
	out, err := isolated("true")
	canIsolate(t, err, out)
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err = isolated(self, "-test.run=^"+t.Name()+"$", "-test.v", "-ssrf.binary="+binary)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("in its namespaces: %v", err)
	}
	t.Logf("%s", out)
}

const (
	publicAddress = "93.184.216.34"
	publicText    = "a page of the public internet"
	innerText     = "a page of the inner network"
)

// An internet is the public and the inner network of a test that runs in namespaces of
// its own. It resolves names, serves every address, and records the connections
// that it accepts.
type internet struct {
	t      *testing.T
	public map[netip.Addr]bool // all others are inner addresses
	zone   map[string][]string // answers by name; the last one is repeated

	mu       sync.Mutex
	lookups  map[string]int         // by type and name
	conns    map[netip.AddrPort]int // accepted, by the address that was dialed
	requests map[string]int         // to public addresses, by the Host field
}

// ports are those on which a world listens at every address.
var ports = []string{"22", "53", "80", "443", "2375", "6379", "8080", "11434"}

// newInternet starts the servers of a world in the namespaces of this process.
func newInternet(t *testing.T, zone map[string][]string, public []string) *internet {
	t.Helper()
	w := &internet{
		t: t, zone: zone, public: map[netip.Addr]bool{},
		lookups: map[string]int{}, conns: map[netip.AddrPort]int{}, requests: map[string]int{},
	}
	for _, text := range public {
		w.public[netip.MustParseAddr(text)] = true
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", ":"+port)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: w, ConnState: w.see}
		go func() { _ = s.Serve(l) }() // ends with the server, which the test closes
		t.Cleanup(func() { _ = s.Close() })
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = names.Close() })
	go w.serveNames(names) // ends with its connection
	return w
}

// dialed returns the address at which a connection arrived.
func dialed(a net.Addr) netip.AddrPort {
	at := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// see records a connection.
func (w *internet) see(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.conns[dialed(conn.LocalAddr())]++
	}
}

// inner returns the inner addresses that were connected to, and how often.
func (w *internet) inner() (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for at, n := range w.conns {
		if !w.public[at.Addr()] {
			found = append(found, fmt.Sprintf("%s (%d)", at, n))
		}
	}
	slices.Sort(found)
	return found
}

// reached returns the number of connections to an address.
func (w *internet) reached(addr string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for at, times := range w.conns {
		if at.Addr() == netip.MustParseAddr(addr) {
			n += times
		}
	}
	return n
}

// count returns one of the numbers of a world.
func (w *internet) count(of map[string]int, key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return of[key]
}

// picture is an image of one pixel.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// ServeHTTP implements http.Handler. A public address redirects, and has a page and
// a picture. An inner address has others, and a hook that redirects to another port.
func (w *internet) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if at := dialed(r.Context().Value(http.LocalAddrContextKey).(net.Addr)); !w.public[at.Addr()] {
		if r.URL.Path == "/hook" {
			http.Redirect(rw, r, "http://"+at.Addr().String()+":6379/", http.StatusTemporaryRedirect)
		}
		_, _ = fmt.Fprint(rw, map[bool]string{true: picture}[r.URL.Path == "/picture"], innerText)
		return
	}
	w.mu.Lock()
	w.requests[r.Host]++
	nth := w.requests[r.Host]
	w.mu.Unlock()
	code, redirects := strings.CutPrefix(r.URL.Path, "/redirect/")
	status, err := strconv.Atoi(code)
	switch {
	case redirects && err == nil:
		rw.Header().Set("Location", r.URL.Query().Get("to"))
		rw.WriteHeader(status)
	case strings.HasPrefix(r.Host, "provider."):
		rw.Header().Set("Location", "http://10.0.0.1/v1/chat/completions")
		rw.WriteHeader(redirections[nth%len(redirections)])
	case r.URL.Path == "/picture":
		_, _ = fmt.Fprint(rw, picture)
	default:
		_, _ = fmt.Fprintln(rw, publicText)
	}
}

var redirections = []int{301, 302, 303, 307, 308}

// redirecting returns the address of a public page that redirects to another.
func redirecting(status int, to string) string {
	return fmt.Sprintf("http://public.example/redirect/%d?to=%s", status, url.QueryEscape(to))
}

// nameOf returns a name that resolves to an address.
func nameOf(a netip.Addr) string {
	return "x" + hex.EncodeToString(a.WithZone("").AsSlice()) + ".to.example"
}

// serveNames answers questions about names.
func (w *internet) serveNames(conn net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var asked dnsmessage.Message
		if asked.Unpack(buf[:n]) != nil || len(asked.Questions) != 1 {
			continue
		}
		answer, err := w.answer(asked)
		if err != nil {
			w.t.Errorf("%v: %v", asked.Questions, err)
			continue
		}
		_, _ = conn.WriteTo(answer, from) // lost answers are asked for again
	}
}

// answer returns the response to a question.
func (w *internet) answer(asked dnsmessage.Message) ([]byte, error) {
	q := asked.Questions[0]
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: asked.ID, Response: true, RecursionAvailable: true}, Questions: asked.Questions}
	words, known := w.look(q)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	owner := q.Name
	for _, word := range words {
		header := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET} // TTL 0
		addr, err := netip.ParseAddr(word)
		switch {
		case err != nil:
			if owner, err = dnsmessage.NewName(word + "."); err != nil {
				return nil, err
			}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: owner}})
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return m.Pack()
}

// look returns the words of the next answer about a name: addresses, and names that
// it is an alias of.
func (w *internet) look(q dnsmessage.Question) (words []string, known bool) {
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	if code, ok := strings.CutSuffix(name, ".to.example"); ok {
		raw, _ := hex.DecodeString(strings.TrimPrefix(code, "x")) // another text is no address
		addr, ok := netip.AddrFromSlice(raw)
		return []string{addr.String()}, ok
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	answers := w.zone[name]
	if len(answers) == 0 {
		return nil, false
	}
	key := strings.TrimPrefix(q.Type.String(), "Type") + " " + name
	at := min(w.lookups[key], len(answers)-1)
	w.lookups[key]++
	return strings.Fields(answers[at]), true
}
