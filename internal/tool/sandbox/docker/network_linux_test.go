package docker_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela/internal/safety/egress"
	"chela/internal/tool/sandbox"
	"chela/internal/tool/sandbox/docker"
)

// TestNetwork: a container with a network reaches the proxy of its run, with the
// programs of the machine, and nothing else.
func TestNetwork(t *testing.T) {
	s := engine(t, docker.Config{})
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello from %s", r.Host) }))
	t.Cleanup(far.Close)
	roots := far.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	proxy := egress.New(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, far.Listener.Addr().String())
	}, egress.Options{Roots: roots})
	rule, err := egress.ParseRule("GET example.com/*")
	if err != nil {
		t.Fatal(err)
	}
	r := proxy.Begin(egress.Config{Rules: []egress.Rule{rule}})
	t.Cleanup(r.Close)
	res := run(t, s, sandbox.Spec{Network: r, Command: `
		curl -sS https://example.com/a
		echo; curl -sS https://other.example/a
		curl -sS --noproxy '*' -m 2 http://` + far.Listener.Addr().String() + `/
		test -S /run/chela/network.sock && curl -sS --unix-socket /run/chela/network.sock http://x/
		grep -c . /proc/net/route
		id -u; ls /run/chela`})
	for _, want := range []string{"hello from example.com", "CONNECT tunnel failed, response 403", "Couldn't connect|Failed to connect", "1\n"} {
		found := false
		for option := range strings.SplitSeq(want, "|") {
			found = found || strings.Contains(res.Output, option)
		}
		if !found {
			t.Errorf("got %q, want %q in it", res.Output, want)
		}
	}
	if strings.Count(res.Output, "hello from") != 1 {
		t.Errorf("got %q, want one answer", res.Output)
	}
}
