package edge_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// TestDecode: a body that is refused is told why, and where.
func TestDecode(t *testing.T) {
	t.Parallel()
	const nul = "the body has a NUL character in it"
	for raw, want := range map[string]string{
		`{"text":"hi"}`: "", ` {"text":"hi"} `: "", `{"text":"a\\u0000b"}`: "", `{"text":"\\\\u0000"}`: "", `{"text":"\\u0000\\u0000"}`: "",
		`{"text":"\u0000"}`: nul, `{"text":"a\u0000b"}`: nul, `{"text":"a\\\u0000b"}`: nul, `{"text":"\\u0000\u0000"}`: nul, `{"text":"\u0000\\u0000"}`: nul,
		"": "there is no body", "{\"text\":\"\xff\"}": "the body is not valid UTF-8",
		`{"text":"hi"`: "the body is not JSON: it ends too early", ` `: "the body is not JSON: it ends too early", `{"text":x}`: "the body is not JSON at byte 9",
		`{"text":"hi"} x`: "the body goes on after its end, at byte 14", `{"text":"hi"}{}`: "the body goes on after its end, at byte 13",
	} {
		var m api.Message
		err := edge.DecodeMessage([]byte(raw), &m)
		if want == "" && err != nil || want != "" && (chela.KindOf(err) != chela.Invalid || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", raw, err, want)
		}
	}
}

// TestBodiesThatAreNoJSON: the media type is application/json, with or without
// parameters, and the size is limited.
func TestBodiesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	row := route(http.MethodPost, "/x", func(v *edge.Visit) error {
		var m api.Message
		if err := v.Decode(&m); err != nil {
			return err
		}
		return v.OK(m.Text)
	})
	row.Body, row.BodyType, row.Limit = api.Message{}, api.JSON, 100
	url := serve(t, config(io.Discard), row)
	small, large := `{"text":"hi"}`, `{"text":"`+strings.Repeat("a", 100)+`"}`
	for _, c := range []struct {
		media, body string
		want        int
	}{
		{"application/json", small, 200},
		{"application/json; charset=utf-8", small, 200},
		{"Application/JSON", small, 200},
		{"application/json; charset", small, 415},
		{"text/plain", small, 415},
		{"", small, 415},
		{"application/json", large, 413},
	} {
		for _, length := range []int64{int64(len(c.body)), -1} { // known, or sent in chunks
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/x", io.NopCloser(strings.NewReader(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			q.ContentLength = length
			q.Header.Set("Authorization", "Bearer ann")
			q.Header.Set("Content-Type", c.media)
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("%q with %d bytes, length %d: %d, want %d", c.media, len(c.body), length, res.StatusCode, c.want)
			}
		}
	}
}

// TestLargeBodiesThatWereRead: a large body has one of 4 places while it is read,
// not while its request is carried out.
func TestLargeBodiesThatWereRead(t *testing.T) {
	t.Parallel()
	const more = 8
	read, goOn := make(chan int, more), make(chan bool)
	row := route(http.MethodPost, "/x", func(v *edge.Visit) error {
		body, err := v.Body()
		if err != nil {
			return err
		}
		read <- len(body)
		<-goOn
		return v.Nothing()
	})
	row.BodyType, row.Limit = api.Bytes, 2*api.MaxBody
	url := serve(t, config(io.Discard), row)
	var requests sync.WaitGroup
	for range more {
		ended := make(chan reply, 1)
		requests.Go(func() { ended <- post(t, url+"/x", strings.Repeat("a", api.MaxBody+1)) })
		select {
		case n := <-read:
			if n != api.MaxBody+1 {
				t.Errorf("%d bytes were read", n)
			}
		case got := <-ended:
			t.Errorf("refused: %d %s", got.status, got.body)
		}
	}
	close(goOn)
	requests.Wait()
}

// post sends a body with a token.
func post(t *testing.T, url, body string) reply {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return reply{}
	}
	q.Header.Set("Authorization", "Bearer ann")
	q.Header.Set("Content-Type", "text/plain")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return reply{res.StatusCode, res.Header, string(answer)}
}

// TestRequestsEndBeforeTheServer: a request that is served when the server is told
// to end is answered whole.
func TestRequestsEndBeforeTheServer(t *testing.T) {
	t.Parallel()
	cfg := config(io.Discard)
	cfg.Times.Close = time.Minute
	began, ending := make(chan bool), make(chan bool)
	long := route(http.MethodGet, "/long", func(v *edge.Visit) error {
		began <- true
		<-v.Request.Context().Done()
		close(ending)
		return context.Cause(v.Request.Context())
	})
	long.Long = true
	url, stop := listened(t, cfg, long, route(http.MethodGet, "/x", func(v *edge.Visit) error {
		began <- true
		<-ending
		return v.OK("hello")
	}))
	status := make(chan int, 2)
	for _, path := range []string{"/x", "/long"} {
		go func() { status <- do(t, http.MethodGet, url+path).status }() // received below
		<-began
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if got := []int{<-status, <-status}; got[0]+got[1] != http.StatusOK+http.StatusServiceUnavailable {
		t.Errorf("answered %v, want 200 and 503", got)
	}
}

// TestRefusedBodiesAreNotWaitedFor: a connection on which much is left to come is
// closed after the refusal, another one stays.
func TestRefusedBodiesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	url := serve(t, config(io.Discard), route(http.MethodPost, "/x", func(v *edge.Visit) error { return v.OK("hello") }))
	for size, want := range map[int]bool{1 << 10: false, 64 << 10: false, 64<<10 + 1: true, 1 << 20: true} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/x", strings.NewReader(strings.Repeat("a", size)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(q) // without a token
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || res.Close != want {
			t.Errorf("%d bytes: %d, the connection is closed: %v, want %v", size, res.StatusCode, res.Close, want)
		}
	}
}

// listened serves routes by Serve and returns the address and a function that ends
// it and returns its error.
func listened(t *testing.T, cfg edge.Config, routes ...edge.Route) (url string, stop func() error) {
	t.Helper()
	s, err := edge.New(cfg, routes)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil) }() // stop receives it
	return "http://" + l.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// TestClosedConnectionsMakeRoom: the limit is one of connections at once.
func TestClosedConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	cfg := config(io.Discard)
	cfg.Connections = 40
	url, stop := listened(t, cfg, route(http.MethodGet, "/x", func(v *edge.Visit) error { return v.OK("hello") }))
	for range 120 {
		if got := do(t, http.MethodGet, url+"/x", "Connection", "close"); got.status != http.StatusOK {
			t.Fatalf("answered %d %s", got.status, got.body)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestRequestsThatDoNotEnd are cut off when the server ends, which the log says.
func TestRequestsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"idle": false, "a request hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log lockedLog
			cfg := config(&log)
			cfg.Times.Close = 50 * time.Millisecond
			if !hangs {
				cfg.Times.Close = time.Minute
			}
			began, goOn := make(chan bool), make(chan bool)
			url, stop := listened(t, cfg, route(http.MethodGet, "/x", func(v *edge.Visit) error {
				close(began)
				<-goOn
				return v.OK("hello")
			}))
			cut := make(chan bool, 1)
			if hangs {
				go func() { // received below
					q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url+"/x", nil)
					if err == nil {
						q.Header.Set("Authorization", "Bearer ann")
						var res *http.Response
						if res, err = http.DefaultClient.Do(q); err == nil {
							res.Body.Close()
						}
					}
					cut <- err != nil
				}()
				<-began
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			if hangs && !<-cut {
				t.Error("the request was answered")
			}
			close(goOn)
			if got := strings.Contains(log.String(), "requests did not end in time"); got != hangs {
				t.Errorf("logged: %v, want %v", got, hangs)
			}
		})
	}
}
