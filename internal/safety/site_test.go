package safety_test

import (
	"testing"

	"chela/internal/safety"
)

func TestSiteOf(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"www.example.co.uk": "example.co.uk", "example.com": "example.com", "a.github.io": "a.github.io", "b.a.github.io": "a.github.io",
		"127.0.0.1": "127.0.0.1", "10.0.0.1": "10.0.0.1", "::1": "::1", "localhost": "localhost", "com": "com", "github.io": "github.io", "": "",
	} {
		if got := safety.SiteOf(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
