package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/edge"
)

func TestBadBodies(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, tt := range []struct {
		name, body string
		status     int
	}{
		{"nothing", " ", 400},
		{"not JSON", "hello", 400},
		{"half", `{"text":"hi"`, 400},
		{"unknown field", `{"text":"hi","txet":"ho"}`, 400},
		{"unknown inner field", `{"text":"hi","attachments":[{"path":"/etc/passwd"}]}`, 400},
		{"more after it", `{"text":"hi"} {}`, 400},
		{"another type", `{"text":7}`, 400},
		{"a list", `[1]`, 400},
		{"invalid UTF-8", "{\"text\":\"\xff\xfe\"}", 400},
		{"half a surrogate in UTF-8", "{\"text\":\"\xed\xa0\x80\"}", 400},
		{"NUL", `{"text":"a\u0000b"}`, 400},
		{"deep", strings.Repeat(`[`, 20_000), 400},
		{"no text", `{}`, 400},
		{"bad session", `{"text":"hi","session":"agent:main"}`, 400},
		{"session of another agent", `{"text":"hi","session":"agent:main:main","agent":"other"}`, 400},
		{"unknown agent", `{"text":"hi","agent":"nobody"}`, 404},
		{"agent that is no name", `{"text":"hi","agent":"a:b"}`, 400},
		{"bad mode", `{"text":"hi","mode":"later"}`, 400},
		{"message id with a line end", `{"text":"hi","message_id":"a\nb"}`, 400},
		{"long message id", `{"text":"hi","message_id":"` + strings.Repeat("a", 257) + `"}`, 400},
		{"attachment without content", `{"text":"hi","attachments":[{"name":"a"}]}`, 400},
		{"attachment with both", `{"text":"hi","attachments":[{"name":"a","content":"aGk=","sha256":"` + strings.Repeat("0", 64) + `"}]}`, 400},
		{"field twice", `{"text":"hi","text":"ho"}`, 400},
		{"field in capitals", `{"TEXT":"hi"}`, 400},
		{"null", `{"text":"hi","agent":null}`, 400},
		{"attachment that is not there", `{"text":"hi","attachments":[{"name":"a","sha256":"` + strings.Repeat("0", 64) + `"}]}`, 404},
		{"attachment that is no base64", `{"text":"hi","attachments":[{"name":"a","content":"%%%"}]}`, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			kind := chela.Invalid
			if tt.status == http.StatusNotFound {
				kind = chela.NotFound
			}
			d.do(t, call{path: "/api/messages", secret: chatSecret, body: tt.body}).refused(t, tt.status, kind)
		})
	}
	t.Cleanup(func() {
		if len(d.inbound) > 0 {
			t.Errorf("a bad message was accepted: %+v", d.inbound)
		}
	})
}

func TestWhatLooksBadAndIsNot(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, body := range []string{
		"{\"text\":\"hi\"}\r\n", `{"text":"a\\u0000b"}`, `{"text":"\ud83d\ude00"}`,
	} {
		if a := d.do(t, call{path: "/api/messages", secret: chatSecret, body: body}); a.status != http.StatusAccepted {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestBodiesAreLimited(t *testing.T) {
	t.Parallel()
	d := run(t)
	large := `{"answer":"` + strings.Repeat("a", 2<<20) + `"}`
	d.do(t, call{path: "/api/approvals/x", secret: chatSecret, body: large}).refused(t, http.StatusRequestEntityTooLarge, chela.Invalid)
	d.do(t, call{path: "/api/login", body: large}).refused(t, http.StatusRequestEntityTooLarge, chela.Invalid)

	// Without a length it is seen while it is read.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/api/approvals/x", io.MultiReader(strings.NewReader(large)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+chatSecret)
	req.Header.Set("Content-Type", api.JSON)
	resp, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status is %d", resp.StatusCode)
	}

	// Messages may bring files.
	a := d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"hi","attachments":[{"name":"a","content":"` + strings.Repeat("aaaa", 1<<20) + `"}]}`})
	if a.status != http.StatusAccepted {
		t.Errorf("message with a file: %d %s", a.status, a.body)
	}
	d.largeBodiesAreFew(t)
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"} {
		d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"hi"}`, header: map[string]string{"Content-Type": media}}).
			refused(t, http.StatusUnsupportedMediaType, chela.Invalid)
	}
}

// largeBodiesAreFew begins to send more large bodies than fit into memory.
func (d *daemon) largeBodiesAreFew(t *testing.T) {
	t.Helper()
	refused := make(chan int, 5)
	for range 5 {
		sending, more := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/api/messages", sending)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+chatSecret)
		req.Header.Set("Content-Type", api.JSON)
		done := make(chan struct{})
		go func() { // the cleanup waits for it
			defer close(done)
			if resp, err := d.client.Do(req); err == nil {
				_ = resp.Body.Close()
				refused <- resp.StatusCode
			}
		}()
		t.Cleanup(func() {
			_ = more.CloseWithError(io.ErrUnexpectedEOF)
			<-done
		})
	}
	if status := <-refused; status != http.StatusServiceUnavailable {
		t.Errorf("the large body too many: %d", status)
	}
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, path := range []string{
		"/api/sessions?limit=0", "/api/sessions?limit=501", "/api/sessions?limit=-1", "/api/sessions?limit=x", "/api/sessions?limit=1&limit=2",
		"/api/sessions?archived=maybe", "/api/sessions?limti=1", "/api/sessions?after=%ff", "/api/sessions?after=%00", "/api/sessions?%zz",
		"/api/sessions?after=" + strings.Repeat("a", 2000), "/api/threads?session=x", "/api/threads/x/entries?after=z", "/api/sessions/x",
		"/api/events?after=nothing", "/api/events?after=1.2", "/api/events?kinds=turn.begun", "/api/events?session=x", "/api/events?token=" + readSecret,
		"/api/turns/x?wait_ms=120001", "/api/approvals?state=open", "/api/usage?since=yesterday", "/api/usage?by=colour",
	} {
		d.do(t, call{path: path, secret: readSecret}).refused(t, http.StatusBadRequest, chela.Invalid)
	}
	for _, path := range []string{"/api/status?token=" + adminSecret, "/api/status?access_token=" + adminSecret} {
		d.do(t, call{path: path}).refused(t, http.StatusUnauthorized, chela.Denied)
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, header := range []string{"Bearer", "Bearer ", "Basic " + readSecret, readSecret, "Bearer secret-wrong", "Bearer " + revokedSecret, "bearer\t" + readSecret} {
		d.do(t, call{path: "/api/status", header: map[string]string{"Authorization": header}}).refused(t, http.StatusUnauthorized, chela.Denied)
	}
	if a := d.do(t, call{path: "/api/status", header: map[string]string{"Authorization": "bearer " + readSecret}}); a.status != http.StatusOK {
		t.Errorf("the scheme is not told by its case: %d", a.status)
	}
	d.revoke(readSecret)
	d.do(t, call{path: "/api/status", secret: readSecret}).refused(t, http.StatusUnauthorized, chela.Denied)
}

func TestTroubleHasItsStatus(t *testing.T) {
	t.Parallel()
	d := run(t)
	a := d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"fail"}`})
	a.refused(t, http.StatusInternalServerError, chela.Internal)
	if strings.Contains(a.body, "disk on fire") || !strings.Contains(d.log.String(), "disk on fire") {
		t.Errorf("the detail belongs into the log alone: %s", a.body)
	}
	if id := a.header.Get(api.RequestIDHeader); !strings.Contains(d.log.String(), id) {
		t.Errorf("the log does not name the request %s", id)
	}
	a = d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"busy"}`})
	a.refused(t, http.StatusTooManyRequests, chela.Exhausted)
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"boom"}`}).refused(t, http.StatusInternalServerError, chela.Internal)
	if !strings.Contains(d.log.String(), "home_test.go") {
		t.Error("the log has no stack of the panic")
	}
	d.say(t, "still there")
}

// raw opens a connection, sends text, and returns all that comes back until the
// daemon closes it.
func (d *daemon) raw(t *testing.T, text string) string {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("after %.40q: %v", text, err)
	}
	return string(raw)
}

// TestSlowClientsAreCutOff opens connections that never send what they promise.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) {
		c.Hosts = []string{":7717"}
		c.Times = edge.Times{Header: 200 * time.Millisecond, Body: 200 * time.Millisecond, Idle: 200 * time.Millisecond}
	})
	head := "Host: localhost\r\nAuthorization: Bearer " + chatSecret + "\r\nContent-Type: application/json\r\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no word":             {"", ""},
		"half a header":       {"GET /healthz HTTP/1.1\r\nHost: loc", ""},
		"half a body":         {"POST /api/messages HTTP/1.1\r\n" + head + "Content-Length: 20\r\n\r\n{\"text\"", "HTTP/1.1 408 "},
		"half a chunk":        {"POST /api/messages HTTP/1.1\r\n" + head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"t", "HTTP/1.1 408 "},
		"a body for nobody":   {"POST /api/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{", "HTTP/1.1 401 "},
		"a body for nothing":  {"POST /api/turns/x/cancel HTTP/1.1\r\n" + head + "Content-Length: 20\r\n\r\n{", "HTTP/1.1 408 "},
		"nothing after a get": {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 "},
		"no host":             {"GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		"an old client":       {"GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.0 421 "},
		"a star":              {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 "},
		"a proxy's word":      {"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 421 "},
		"a tunnel":            {"CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 "},
		"a large header":      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", "HTTP/1.1 431 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := d.raw(t, tt.text); !strings.HasPrefix(got, tt.want) {
				t.Errorf("answer is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	const limit = 8
	d := run(t, func(c *gateway.Config) { c.Connections = limit })
	open := func() net.Conn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn) string {
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") // one that was closed already has its answer
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			t.Errorf("no answer: %v", err)
		}
		return strings.TrimSpace(line)
	}
	var inside []net.Conn
	for i := range limit {
		inside = append(inside, open())
		if got := ask(inside[i]); got != "HTTP/1.1 200 OK" {
			t.Fatalf("connection %d: %s", i, got)
		}
	}
	for i := range 20 {
		if got := ask(open()); got != "HTTP/1.1 503 Service Unavailable" {
			t.Errorf("connection %d over the limit: %s", i, got)
		}
	}
	for i := range 200 { // silent ones are not kept either
		open()
		if got := ask(inside[0]); got != "HTTP/1.1 200 OK" {
			t.Fatalf("after %d silent connections: %s", i, got)
		}
	}
	for range 20 { // told without being asked
		line, err := bufio.NewReader(open()).ReadString('\n')
		if err != nil || line != "HTTP/1.1 503 Service Unavailable\r\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
}

func TestMessagesAreMetered(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.MessagesPerMinute, c.LoginsPerMinute = 3, 2 })
	for range 3 {
		d.say(t, "hi")
	}
	a := d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"hi"}`})
	a.refused(t, http.StatusTooManyRequests, chela.Exhausted)
	if after := a.header.Get("Retry-After"); after != "20" && after != "19" {
		t.Errorf("Retry-After is %q", after)
	}
	for _, c := range []call{
		{path: "/api/messages", secret: adminSecret, body: `{"text":"hi"}`},
		{path: "/api/messages", socket: true, body: `{"text":"hi"}`},
	} {
		if a := d.do(t, c); a.status != http.StatusAccepted {
			t.Errorf("another one: %d", a.status)
		}
	}
	for i := range 3 {
		a := d.do(t, call{path: "/api/login", body: fmt.Sprintf(`{"token":"guess-%d"}`, i)})
		want, kind := http.StatusUnauthorized, chela.Denied
		if i == 2 {
			want, kind = http.StatusTooManyRequests, chela.Exhausted
		}
		a.refused(t, want, kind)
	}
}
