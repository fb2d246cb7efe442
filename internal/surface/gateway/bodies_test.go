package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/surface/gateway"
)

// TestBodiesTakeLimitedMemory: while a client keeps the server waiting for the rest of a
// body, others find the memory of all bodies taken, and are told when to come again.
func TestBodiesTakeLimitedMemory(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.BodyMemory = 100 << 10 })
	slow, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	head := fmt.Sprintf("POST /api/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", chatSecret, 90<<10)
	if _, err := io.WriteString(slow, head+strings.Repeat(" ", 80<<10)); err != nil {
		t.Fatal(err)
	}
	message := func() answer {
		t.Helper()
		return d.do(t, call{path: "/api/messages", secret: chatSecret, body: fmt.Sprintf(`{"text":"hello"%s}`, strings.Repeat(" ", 50<<10))})
	}
	for { // until the bytes of the first body have arrived
		res := message()
		if res.status == http.StatusServiceUnavailable {
			if res.header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", res.header.Get("Retry-After"))
			}
			break
		}
	}
	d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"` + strings.Repeat("a", 50<<10) + `"}`}).refused(t, http.StatusServiceUnavailable, chela.Unavailable)
	if err := slow.Close(); err != nil {
		t.Fatal(err)
	}
	for message().status == http.StatusServiceUnavailable { // until the server knows that the client is gone
	}
}
