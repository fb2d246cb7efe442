package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/safety/egress"
	"chela/internal/safety/guard"
)

// TestPrivateHosts: through a proxy whose run may reach every host, no host that
// is not public is connected to, in whatever notation, and each request is
// recorded as refused.
func TestPrivateHosts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../guard/testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	d, err := guard.New(guard.Config{
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		},
		Connect: func(_ context.Context, _, address string) (net.Conn, error) {
			t.Errorf("%s was connected to", address)
			return nil, chela.E(chela.Internal, "refused")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var records []egress.Record
	proxy := egress.New(d.Dial, egress.Options{})
	addr := serving(t, proxy)
	run := proxy.Begin(egress.Config{
		Allow:  func(context.Context, egress.Request) error { return nil },
		Record: func(r egress.Record) { mu.Lock(); defer mu.Unlock(); records = append(records, r) },
	})
	t.Cleanup(run.Close)
	sent := 0
	for line := range strings.Lines(string(text)) {
		host := strings.ReplaceAll(strings.TrimSpace(line), "%25", "%")
		if host == "" || strings.HasPrefix(host, "#") {
			continue
		}
		for _, request := range []string{
			fmt.Sprintf("CONNECT %[1]s:443 HTTP/1.1\r\nHost: %[1]s:443\r\n", host),
			fmt.Sprintf("GET http://%[1]s/ HTTP/1.1\r\nHost: public.example\r\n", strings.ReplaceAll(host, "%", "%25")),
		} {
			sent++
			if status := exchange(t, addr, request+"Proxy-Authorization: Bearer "+run.Token()+"\r\n\r\n"); status != http.StatusForbidden && status != http.StatusBadRequest {
				t.Errorf("%q was answered with %d", request, status)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	refused := 0
	for _, r := range records {
		if r.Refused != "" {
			refused++
		}
	}
	if refused < sent*9/10 { // the rest is no request at all
		t.Errorf("%d of %d requests are recorded as refused", refused, sent)
	}
}

// exchange sends a request and returns the status of the answer; 400 for a
// connection that ended without one.
func exchange(t *testing.T, addr, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return http.StatusBadRequest
	}
	_ = res.Body.Close()
	return res.StatusCode
}
