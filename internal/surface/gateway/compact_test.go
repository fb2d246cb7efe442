package gateway_test

import (
	"net/http"
	"testing"

	"chela"
	"chela/internal/api"
)

func TestCompactThread(t *testing.T) {
	t.Parallel()
	d := run(t)
	first := d.say(t, "hi")
	path := "/api/threads/" + string(first.Thread) + "/compact"
	decoded[api.Receipt](t, d.do(t, call{path: path, secret: chatSecret, body: `{"instructions":"keep the names","message_id":"c1"}`}), http.StatusAccepted)
	in := d.inbound[len(d.inbound)-1]
	if in.Command != chela.CommandCompact || in.Text != "keep the names" || in.Thread != first.Thread || in.MessageID != "c1" {
		t.Errorf("accepted %+v", in)
	}
	d.do(t, call{path: "/api/threads/thr_nobody/compact", secret: chatSecret, body: `{}`}).refused(t, http.StatusNotFound, chela.NotFound)
}
