package wire_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"chela"
	"chela/internal/model/provider/wire"
)

// TestRefuses tells servers that did nothing from those that may have passed the
// request on, and wait no more.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for want, all := range map[bool][]int{
		true:  {301, 400, 401, 402, 403, 404, 409, 413, 422, 424, 429, 500, 501, 503, 529},
		false: {0, 200, 408, 502, 504, 520, 522, 524, 599},
	} {
		for _, status := range all {
			if got := guard.Refused(status, http.Header{}, nil).Unpaid; got != want || wire.Refuses(status) != want {
				t.Errorf("status %d: unpaid is %t, want %t", status, got, want)
			}
		}
	}
	late := []byte(`{"error":{"type":"timeout_error","message":"The request timed out"}}`)
	if guard.Refused(500, http.Header{}, late).Unpaid || guard.Broke(late).Unpaid {
		t.Error("an answer that took too long was written for a while")
	}
}

// TestToldUnpaid has what ends an answer before anything of it came: only what a
// provider tells of is unpaid, and nothing after a piece of the answer.
func TestToldUnpaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		end  error
		want bool
	}{
		"told":               {"", guard.Broke([]byte(`{"error":{"type":"overloaded_error"}}`)), true},
		"told after a piece": {"hi", guard.Broke([]byte(`{"error":{"type":"overloaded_error"}}`)), false},
		"nothing is told":    {"", guard.Broke([]byte(`null`)), false},
		"not sent":           {"", guard.Unsent(chela.Invalid, "no such picture"), true},
		"cut":                {"", guard.Cut(t.Context(), nil), false},
		"not readable":       {"", guard.Unreadable("sent nonsense"), false},
	} {
		var last error
		step := func(_ context.Context, emit wire.EmitFunc) (*chela.Finish, error) {
			emit(chela.Chunk{Text: tt.text})
			return nil, tt.end
		}
		for _, err := range wire.Stream(t.Context(), step) {
			last = err
		}
		if pe, ok := errors.AsType[*chela.ProviderError](last); !ok || pe.Unpaid != tt.want {
			t.Errorf("%s: got %+v, want unpaid %t", name, last, tt.want)
		}
	}
}

// TestNotSent tells requests that never got there from those whose connection was
// lost on the way.
func TestNotSent(t *testing.T) {
	t.Parallel()
	rude := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}))
	t.Cleanup(rude.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	nobody := http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nobody.example", IsNotFound: true}
	}}
	other := httptest.NewTLSServer(nil)
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct {
		url  string
		via  *http.Transport
		want bool
	}{
		"nobody listens":          {gone.URL, &http.Transport{}, true},
		"no such host":            {"http://nobody.example", &nobody, true},
		"unknown certificate":     {other.URL, &http.Transport{}, true},
		"the connection was lost": {rude.URL, &http.Transport{}, false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := guard.Do(req, (&http.Client{Transport: tt.via}).Do)
		if res != nil {
			res.Body.Close()
		}
		pe, ok := errors.AsType[*chela.ProviderError](err)
		if !ok || pe.Kind != chela.Unavailable || pe.Unpaid != tt.want {
			t.Errorf("%s: got %+v, want unpaid %t", name, err, tt.want)
		}
	}
}
