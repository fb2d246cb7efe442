package edge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// A deadlined answer records the deadlines of its connection, as times after a
// beginning.
type deadlined struct {
	*httptest.ResponseRecorder
	began       time.Time
	read, write []time.Duration
}

// none stands for a deadline that was taken away.
const none = time.Duration(-1)

// SetReadDeadline implements the method that http.ResponseController looks for.
func (d *deadlined) SetReadDeadline(until time.Time) error {
	if until.IsZero() {
		d.read = append(d.read, none)
		return nil
	}
	d.read = append(d.read, until.Sub(d.began))
	return nil
}

// SetWriteDeadline implements the method that http.ResponseController looks for.
func (d *deadlined) SetWriteDeadline(until time.Time) error {
	d.write = append(d.write, until.Sub(d.began))
	return nil
}

// TestBodyDeadlines: a body gets more time with each 8 KiB that came, as a line of
// 64 KiB/s needs it, and the deadline goes away with its end.
func TestBodyDeadlines(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 0)
	cfg := config(io.Discard)
	cfg.Now = func() time.Time { return began }
	row := route(http.MethodPost, "/x", func(v *edge.Visit) error {
		if _, err := io.Copy(io.Discard, iotest.OneByteReader(v.Request.Body)); err != nil {
			return err
		}
		return v.Nothing()
	})
	row.BodyType, row.Limit = "text/plain", 1<<20
	s, err := edge.New(cfg, []edge.Route{row})
	if err != nil {
		t.Fatal(err)
	}
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", strings.NewReader(strings.Repeat("a", 20<<10)))
	q.Host = "localhost"
	q.Header.Set("Authorization", "Bearer ann")
	w := &deadlined{ResponseRecorder: httptest.NewRecorder(), began: began}
	s.Handler().ServeHTTP(w, q)
	want := []time.Duration{10 * time.Second, 10*time.Second + time.Second/8, 10*time.Second + time.Second/4, none}
	if diff := cmp.Diff(want, w.read); diff != "" || w.Code != http.StatusNoContent {
		t.Errorf("answered %d, read deadlines (-want +got):\n%s", w.Code, diff)
	}
}

// TestRefusedBodyDeadline: what is left of a refused body is read for a second.
func TestRefusedBodyDeadline(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 0)
	cfg := config(io.Discard)
	cfg.Now = func() time.Time { return began }
	s, err := edge.New(cfg, []edge.Route{route(http.MethodPost, "/x", func(v *edge.Visit) error { return v.Nothing() })})
	if err != nil {
		t.Fatal(err)
	}
	body := strings.NewReader(strings.Repeat("a", 100<<10))
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", body)
	q.Host = "localhost"
	w := &deadlined{ResponseRecorder: httptest.NewRecorder(), began: began}
	s.Handler().ServeHTTP(w, q)
	if diff := cmp.Diff([]time.Duration{10 * time.Second, time.Second}, w.read); diff != "" || w.Code != http.StatusUnauthorized || body.Len() > 0 {
		t.Errorf("answered %d, %d bytes left, read deadlines (-want +got):\n%s", w.Code, body.Len(), diff)
	}
}

// TestAnswerDeadlines: each part of an answer moves the deadline of the next, but
// not by less than a tenth of it.
func TestAnswerDeadlines(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 0)
	now := began
	cfg := config(io.Discard)
	cfg.Now = func() time.Time { return now }
	s, err := edge.New(cfg, []edge.Route{route(http.MethodGet, "/x", func(v *edge.Visit) error {
		for _, after := range []time.Duration{0, 2999 * time.Millisecond, 3 * time.Second, 5 * time.Second} {
			now = began.Add(after)
			if _, err := v.Write([]byte("part")); err != nil {
				return err
			}
		}
		now = began.Add(time.Minute)
		return v.FlushError()
	})})
	if err != nil {
		t.Fatal(err)
	}
	q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
	q.Host = "localhost"
	q.Header.Set("Authorization", "Bearer ann")
	w := &deadlined{ResponseRecorder: httptest.NewRecorder(), began: began}
	s.Handler().ServeHTTP(w, q)
	want := []time.Duration{30 * time.Second, 33 * time.Second, 90 * time.Second}
	if diff := cmp.Diff(want, w.write); diff != "" || !w.Flushed {
		t.Errorf("flushed: %v, write deadlines (-want +got):\n%s", w.Flushed, diff)
	}
}

// TestOrigins: a page's origin is a scheme and a host in lower case.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"https://example.org": true, "http://example.org:8080": true, "app://host": true,
		"": false, "example.org": false, "://example.org": false, "https://": false, "https://example.org/": false, "https://*.example.org": false,
		"https://Example.org": false, "null": false,
	} {
		_, err := edge.New(edge.Config{Origins: []string{origin}}, nil)
		if want && err != nil || !want && chela.KindOf(err) != chela.Invalid {
			t.Errorf("%q: error %v, want it taken: %v", origin, err, want)
		}
	}
}

// TestAfter: only a row that is missing or has no valid name is a wrong cursor.
func TestAfter(t *testing.T) {
	t.Parallel()
	if err := api.Unknown("row", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	for _, kind := range []chela.Kind{chela.NotFound, chela.Invalid, chela.Conflict, chela.Internal} {
		err := chela.E(kind, "the cause")
		got := api.Unknown("row", err)
		want := error(err)
		if kind == chela.NotFound || kind == chela.Invalid {
			want = api.NoRow("row")
		}
		if got.Error() != want.Error() {
			t.Errorf("%s became %v", kind, got)
		}
	}
}
