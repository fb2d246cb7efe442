package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
	"chela/internal/surface/gateway/edge"
)

// rawTalk opens a WebSocket by hand: it answers no ping and sends what it likes.
func (d *daemon) rawTalk(t *testing.T) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(c, "GET /api/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+chatSecret+
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len("HTTP/1.1 101 "))
	if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 101 " {
		t.Fatalf("%q %v", head, err)
	}
	return c
}

// textFrame returns the beginning of a text frame of a size: its header, with the
// mask 0.
func textFrame(size int) string {
	return string([]byte{0x81, 0x80 | 127, 0, 0, 0, 0, byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size), 0, 0, 0, 0})
}

// ends wants the daemon to close a connection.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was not closed")
	}
}

func TestSilentPeersAreCutOff(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) {
		c.Times = edge.Times{Heartbeat: 20 * time.Millisecond, Write: 200 * time.Millisecond, Body: 200 * time.Millisecond}
	})
	ends(t, d.rawTalk(t))

	half := d.rawTalk(t)
	if _, err := io.WriteString(half, textFrame(100)+`{"kind":`); err != nil {
		t.Fatal(err)
	}
	ends(t, half)
}

func TestPeersThatAnswerStay(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Heartbeat: 10 * time.Millisecond} })
	pings := make(chan struct{}, 100)
	opts := &websocket.DialOptions{
		HTTPClient: d.client, HTTPHeader: http.Header{"Authorization": {"Bearer " + chatSecret}},
		OnPingReceived: func(context.Context, []byte) bool {
			pings <- struct{}{}
			return true
		},
	}
	conn, _, err := websocket.Dial(t.Context(), d.url+"/api/ws", opts) //nolint:bodyclose // is closed by Dial
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t, conn}
	read := make(chan struct{})
	go func() { // waited for below
		defer close(read)
		p.want(api.FrameReceipt, "1")
	}()
	for range 5 {
		<-pings
	}
	p.say("1", "hi")
	<-read
	_ = conn.CloseNow()
}

// TestLateReadersAreCutOff reads nothing of a subscription: it must not hold the
// gateway, which would keep what it writes for ever.
func TestLateReadersAreCutOff(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.Times = edge.Times{Write: 100 * time.Millisecond, Close: time.Minute} })
	c := d.rawTalk(t)
	subscribe := `{"kind":"subscribe"}`
	if _, err := io.WriteString(c, textFrame(len(subscribe))+subscribe); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	big := strings.Repeat("x", 32<<10)
	for written := 0; time.Now().Before(deadline); written++ {
		d.mu.Lock()
		d.emit(chela.Event{Kind: chela.EventNotice, Text: big})
		d.mu.Unlock()
		if written%64 == 0 {
			_, err := io.WriteString(c, textFrame(1)+" ")
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return
			}
		}
	}
	t.Error("a reader that reads nothing was not cut off")
}

// TestLargeFramesAreFew begins to send more large messages than fit into memory.
func TestLargeFramesAreFew(t *testing.T) {
	t.Parallel()
	d := run(t)
	frame := `{"id":"large","kind":"message","message":{"text":"hi","attachments":[{"name":"a","content":"` + strings.Repeat("aaaa", 1<<19) + `"}]}}`
	p := d.dial(t, call{secret: chatSecret})
	ask := func() api.Frame {
		p.send(frame)
		f, err := p.next()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var begun []net.Conn
	f := api.Frame{Kind: api.FrameReceipt}
	for i := 0; f.Kind == api.FrameReceipt && i < 40; i++ { // one that comes while p's is read finds no place
		c := d.rawTalk(t)
		if _, err := io.WriteString(c, textFrame(len(frame))+frame[:len(frame)-1]); err != nil {
			t.Fatal(err)
		}
		begun = append(begun, c)
		f = ask()
	}
	if f.Kind != api.FrameError || f.Error.Kind != chela.Unavailable {
		t.Fatalf("with %d others the answer is %+v", len(begun), f)
	}
	p.say("small", "hi")
	p.want(api.FrameReceipt, "small")
	for _, c := range begun {
		_ = c.Close()
	}
	for i := 0; f.Kind != api.FrameReceipt && i < 40; i++ { // until those are forgotten
		f = ask()
	}
	if f.Kind != api.FrameReceipt {
		t.Errorf("when the others had gone the answer is %+v", f)
	}
	if err := p.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
}
