package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"

	"chela/internal/safety/egress"
)

// BenchmarkRequest compares requests over a kept connection: direct ones, and
// through the proxy. One through the proxy must cost at most 1 ms more.
func BenchmarkRequest(b *testing.B) {
	n := newInternet(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	run := n.begin(b, func(c *egress.Config) { c.Record = nil })
	roots := x509.NewCertPool()
	roots.AddCert(leafFor(b).root)
	direct := &http.Client{Transport: &http.Transport{DialContext: n.dial, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	b.Cleanup(direct.CloseIdleConnections)
	proxied := n.client(b, run)
	for _, c := range []struct {
		name, url string
		client    *http.Client
	}{
		{"direct http", "http://open.example/", direct},
		{"proxied http", "http://open.example/", proxied},
		{"direct https", "https://open.example/", direct},
		{"tunneled https", "https://open.example/", proxied},
		{"read https", "https://api.example/", proxied},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if status, body := get(b, c.client, c.url, nil); status != http.StatusOK {
					b.Fatalf("%d %s", status, body)
				}
			}
		})
		b.Run(c.name+" on a new connection", func(b *testing.B) {
			for b.Loop() {
				if status, body := get(b, c.client, c.url, nil); status != http.StatusOK {
					b.Fatalf("%d %s", status, body)
				}
				c.client.CloseIdleConnections()
			}
		})
	}
}
