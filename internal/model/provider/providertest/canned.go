package providertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"chela"
)

// A CannedAnswer is an HTTP transport that answers every request with the same body and
// keeps what was sent. It serves one request at a time.
type CannedAnswer struct {
	Status int    // 0 means 200
	Kind   string // the content type
	Body   string
	Then   *CannedAnswer // answers the requests after the first one, if set

	Sent   string // the last request's body
	URL    string
	Header http.Header

	asked bool
}

// RoundTrip implements [http.RoundTripper].
func (c *CannedAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.asked && c.Then != nil {
		return c.Then.RoundTrip(r)
	}
	c.asked = true
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.Sent = string(sent)
	}
	c.URL, c.Header = r.URL.String(), r.Header
	return &http.Response{
		StatusCode: max(c.Status, http.StatusOK), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {c.Kind}}, Body: io.NopCloser(strings.NewReader(c.Body)),
	}, nil
}

// Stream returns a server-sent stream of data as a server writes it.
func Stream(data ...string) *CannedAnswer {
	return &CannedAnswer{Kind: "text/event-stream", Body: "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"}
}

// Ask performs one request and returns how it ended. It fails the test unless the
// stream has one end and its pieces join to the text of that.
func Ask(t testing.TB, p chela.Provider, req *chela.Request) (*chela.Finish, error) {
	t.Helper()
	var finish *chela.Finish
	var failed error
	var text strings.Builder
	ends := 0
	for chunk, err := range p.Stream(t.Context(), req) {
		text.WriteString(chunk.Text)
		if chunk.Finish != nil || err != nil {
			ends++
		}
		finish, failed = chunk.Finish, err
	}
	if ends != 1 || (finish == nil) == (failed == nil) {
		t.Fatalf("stream had %d ends, the last %+v and %v", ends, finish, failed)
	}
	if finish != nil && finish.Text != text.String() {
		t.Fatalf("the pieces join to %q, the finish has %q", text.String(), finish.Text)
	}
	return finish, failed
}

// CheckUnseen fails the test unless an answer tells of so many bytes that are not
// shown.
func CheckUnseen(t testing.TB, p chela.Provider, req *chela.Request, want int) {
	t.Helper()
	got := 0
	for chunk, err := range p.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		got += chunk.Unseen
	}
	if got != want {
		t.Errorf("%d bytes are told of that are not shown, want %d", got, want)
	}
}
