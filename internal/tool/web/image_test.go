package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
	"chela/internal/tool/web"
)

// png begins like a PNG image.
const png = "\x89PNG\r\n\x1a\n"

// TestImages fetches images, and nothing else.
func TestImages(t *testing.T) {
	t.Parallel()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html") // which is not believed
		switch r.URL.Path {
		case "/image":
			fmt.Fprint(w, png)
		case "/moved":
			http.Redirect(w, r, "/image", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, strings.Replace(srv.URL, "127.0.0.1", "127.0.0.2", 1)+"/image", http.StatusFound)
		case "/mail":
			http.Redirect(w, r, "http://127.0.0.1:25/", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "<html>")
		case "/large":
			fmt.Fprint(w, png+strings.Repeat("x", 5<<20))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		name, address string
		allow         []string
		kind          chela.Kind // of the failure; empty for an image
	}{
		{"image", srv.URL + "/image", []string{"127.0.0.1"}, ""},
		{"redirect", srv.URL + "/moved", []string{"127.0.0.1"}, ""},
		{"private address", srv.URL + "/image", nil, chela.Denied},
		{"redirect to a private address", srv.URL + "/inside", []string{"127.0.0.1"}, chela.Denied},
		{"redirect to a port of mail", srv.URL + "/mail", []string{"127.0.0.1"}, chela.Invalid},
		{"circle", srv.URL + "/circle", []string{"127.0.0.1"}, chela.Invalid},
		{"page", srv.URL + "/page", []string{"127.0.0.1"}, chela.Invalid},
		{"too large", srv.URL + "/large", []string{"127.0.0.1"}, chela.Invalid},
		{"missing", srv.URL + "/missing", []string{"127.0.0.1"}, chela.Invalid},
		{"no address", "https://", nil, chela.Invalid},
		{"file", "file:///etc/passwd", nil, chela.Invalid},
		{"password", "http://a:b@127.0.0.1/", nil, chela.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kind, content, err := web.Images(dialer(c.allow...))(t.Context(), c.address)
			if c.kind == "" && (err != nil || kind != "image/png" || string(content) != png) {
				t.Errorf("got %s, %q, %v", kind, content, err)
			}
			if c.kind != "" && chela.KindOf(err) != c.kind {
				t.Errorf("got an error of kind %s, want %s: %v", chela.KindOf(err), c.kind, err)
			}
		})
	}
}
