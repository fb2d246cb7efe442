package gateway_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	d := run(t)
	content := base64.StdEncoding.EncodeToString([]byte("some text"))
	put := call{path: "/api/attachments?name=b.txt", secret: chatSecret, body: "more text", header: map[string]string{"Content-Type": "text/plain"}}
	kept := decoded[chela.Attachment](t, d.do(t, put), http.StatusCreated)
	body := fmt.Sprintf(`{"text":"hi","message_id":"m1","mode":"followup","model":"a/b","attachments":[{"name":"a.txt","content":%q},{"name":"b.txt","sha256":%q}]}`,
		content, kept.SHA256)
	first := decoded[api.Receipt](t, d.do(t, call{path: "/api/messages", secret: chatSecret, body: body}), http.StatusAccepted)
	if first.Turn == "" || first.Thread == "" || first.Session != "agent:main:main" || first.Duplicate {
		t.Errorf("receipt is %+v", first)
	}
	in := d.inbound[0]
	want := chela.Inbound{
		Session: "agent:main:main", Agent: "main", MessageID: "m1", Text: "hi", Model: "a/b", Queue: chela.QueueSettings{Mode: chela.QueueFollowup},
		Origin:      chela.Origin{Channel: "http", Account: "tok_chat", Sender: "chat", Owner: true},
		Attachments: []chela.Attachment{in.Attachments[0], kept}, Scope: chela.ScopeChat,
	}
	if diff := cmp.Diff(want, in); diff != "" || in.Attachments[0].Size != 9 {
		t.Errorf("inbound (-want +got)\n%s", diff)
	}
	again := decoded[api.Receipt](t, d.do(t, call{path: "/api/messages", secret: chatSecret, body: body}), http.StatusAccepted)
	if !again.Duplicate || again.Turn != first.Turn {
		t.Errorf("sent again: %+v", again)
	}
	for name, c := range map[string]call{"token": {secret: adminSecret}, "socket": {socket: true}} {
		c.path, c.body = "/api/messages", body
		if other := decoded[api.Receipt](t, d.do(t, c), http.StatusAccepted); other.Duplicate {
			t.Errorf("the id of one program is that of another %s", name)
		}
	}
	if one, two := d.say(t, "x"), d.say(t, "x"); one.Turn == two.Turn {
		t.Error("messages without an id are taken for one")
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	d := run(t)
	done := d.say(t, "hi")
	path := "/api/turns/" + string(done.Turn)
	got := decoded[api.Turn](t, d.do(t, call{path: path + "?wait_ms=60000", secret: readSecret}), http.StatusOK)
	if got.Answer != "you said hi" || got.State != chela.TurnCompleted {
		t.Errorf("turn is %+v", got)
	}
	decoded[api.Trace](t, d.do(t, call{path: path + "/trace", secret: readSecret}), http.StatusOK)
	d.do(t, call{path: path + "/steer", secret: chatSecret, body: `{"text":"stop"}`}).refused(t, http.StatusConflict, chela.Conflict)
	d.do(t, call{method: http.MethodPost, path: path + "/cancel", secret: chatSecret}).refused(t, http.StatusConflict, chela.Conflict)
	d.do(t, call{path: "/api/turns/turn_x?wait_ms=1", secret: readSecret}).refused(t, http.StatusNotFound, chela.NotFound)

	release := d.hold()
	defer release()
	open := d.say(t, "wait")
	path = "/api/turns/" + string(open.Turn)
	if got := decoded[api.Turn](t, d.do(t, call{path: path + "?wait_ms=1", secret: readSecret}), http.StatusOK); got.State != chela.TurnProcessing {
		t.Errorf("turn is %+v", got)
	}
	decoded[api.Receipt](t, d.do(t, call{path: path + "/steer", secret: chatSecret, body: `{"text":"left","message_id":"s1"}`}), http.StatusAccepted)
	if in := d.inbound[len(d.inbound)-1]; in.Queue.Mode != chela.QueueSteer || in.Thread != open.Thread || in.Session != open.Session || in.MessageID != "s1" {
		t.Errorf("steered by %+v", in)
	}
	if got := decoded[api.Turn](t, d.do(t, call{method: http.MethodPost, path: path + "/cancel", secret: chatSecret, body: "{}"}), http.StatusAccepted); got.State != chela.TurnInterrupted {
		t.Errorf("turn is %+v", got)
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	d := run(t)
	asked := d.say(t, "ask")
	got := decoded[api.Turn](t, d.do(t, call{path: "/api/turns/" + string(asked.Turn) + "?wait_ms=60000", secret: readSecret}), http.StatusOK)
	if got.State != chela.TurnAwaiting || len(got.Approvals) != 1 {
		t.Fatalf("turn is %+v", got)
	}
	path := "/api/approvals/" + string(got.Approvals[0].ID)
	if page := decoded[api.Page[chela.Approval]](t, d.do(t, call{path: "/api/approvals?state=pending", secret: readSecret}), http.StatusOK); len(page.Items) != 1 {
		t.Errorf("pending are %+v", page)
	}
	decoded[chela.Approval](t, d.do(t, call{path: path, secret: readSecret}), http.StatusOK)
	d.do(t, call{path: path, secret: readSecret, body: `{"answer":"session"}`}).refused(t, http.StatusForbidden, chela.Denied)
	d.do(t, call{path: path, secret: chatSecret, body: `{"answer":"perhaps"}`}).refused(t, http.StatusBadRequest, chela.Invalid)
	d.do(t, call{path: path, secret: chatSecret, body: `{"answer":"no","by":"a\u001b[2Jb"}`}).refused(t, http.StatusBadRequest, chela.Invalid)
	yes := call{path: path, secret: chatSecret, body: `{"answer":"session","reason":"why not","by":"Ada"}`}
	decoded[chela.Approval](t, d.do(t, yes), http.StatusOK)
	d.do(t, yes).refused(t, http.StatusConflict, chela.Conflict)
	want := reply{
		api.AnswerRequest{
			ApprovalRef: api.ApprovalRef{ID: got.Approvals[0].ID}, Answer: api.Answer{Answer: chela.AnswerSession, Reason: "why not", By: "Ada"},
		},
		"token chat (tok_chat)",
	}
	if diff := cmp.Diff(want, d.replies[1]); diff != "" {
		t.Errorf("reply (-want +got)\n%s", diff)
	}
	grants := decoded[api.Page[chela.Grant]](t, d.do(t, call{path: "/api/grants", secret: readSecret}), http.StatusOK)
	if len(grants.Items) != 1 {
		t.Fatalf("grants are %+v", grants)
	}
	revoke := call{method: http.MethodDelete, path: "/api/grants/" + string(grants.Items[0].ID), secret: chatSecret}
	if a := d.do(t, revoke); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	d.do(t, revoke).refused(t, http.StatusNotFound, chela.NotFound)
}

// TestSessionKeysInPaths asks for sessions whose keys are themselves escaped:
// they must be escaped again, as one segment of the path.
func TestSessionKeysInPaths(t *testing.T) {
	t.Parallel()
	d := run(t)
	for _, id := range []string{"ada", "a/b", "a:b", "100%", "ä ö", "..", "a?b#c", "%2F"} {
		key := chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: id}.Session()
		body := fmt.Sprintf(`{"text":"hi","session":%q}`, key)
		if a := d.do(t, call{path: "/api/messages", secret: chatSecret, body: body}); a.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", key, a.status, a.body)
		}
		path := "/api/sessions/" + url.PathEscape(string(key))
		if s := decoded[chela.Session](t, d.do(t, call{path: path, secret: readSecret}), http.StatusOK); s.Key != key {
			t.Errorf("at %s is %s, not %s", path, s.Key, key)
		}
		s := decoded[chela.Session](t, d.do(t, call{method: http.MethodPatch, path: path, secret: chatSecret, body: `{"label":"L"}`}), http.StatusOK)
		if s.Key != key || s.Settings.Label != "L" {
			t.Errorf("changed is %+v", s)
		}
		thread := decoded[chela.Thread](t, d.do(t, call{method: http.MethodPost, path: path + "/reset", secret: chatSecret}), http.StatusOK)
		if thread.ID == s.Thread {
			t.Error("reset began no thread")
		}
		threads := decoded[api.Page[chela.Thread]](t, d.do(t, call{path: "/api/threads?session=" + url.QueryEscape(string(key)), secret: readSecret}), http.StatusOK)
		if len(threads.Items) != 2 {
			t.Errorf("threads are %+v", threads)
		}
		decoded[chela.Session](t, d.do(t, call{method: http.MethodDelete, path: path, secret: chatSecret}), http.StatusOK)
	}
	if page := decoded[api.Page[chela.Session]](t, d.do(t, call{path: "/api/sessions", secret: readSecret}), http.StatusOK); len(page.Items) != 0 {
		t.Errorf("archived sessions are listed: %+v", page)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	d := run(t)
	var last api.Receipt
	for i := range 5 {
		body := fmt.Sprintf(`{"text":"hi","session":"agent:main:dm:p%d"}`, i)
		last = decoded[api.Receipt](t, d.do(t, call{path: "/api/messages", secret: chatSecret, body: body}), http.StatusAccepted)
	}
	var keys []chela.SessionKey
	for next, pages := "", 0; next != "" || pages == 0; pages++ {
		page := decoded[api.Page[chela.Session]](t, d.do(t, call{path: "/api/sessions?limit=2" + next, secret: readSecret}), http.StatusOK)
		for _, s := range page.Items {
			keys = append(keys, s.Key)
		}
		if next = page.Next; next != "" {
			next = "&after=" + url.QueryEscape(next)
		}
	}
	for _, list := range []string{"/api/sessions?after=agent:main:dm:none", "/api/threads?after=thr_none", "/api/tokens?after=tok_none"} {
		d.do(t, call{path: list, secret: adminSecret}).refused(t, http.StatusNotFound, chela.NotFound)
	}
	for _, list := range []string{"/api/sessions?after=none", "/api/threads?after=none", "/api/jobs?after=none", "/api/routines?limit=501", "/api/usage?limit=0"} {
		d.do(t, call{path: list, secret: adminSecret}).refused(t, http.StatusBadRequest, chela.Invalid)
	}
	if len(keys) != 5 || keys[0] != "agent:main:dm:p0" || keys[4] != "agent:main:dm:p4" {
		t.Errorf("pages hold %v", keys)
	}
	path := "/api/threads/" + string(last.Thread)
	decoded[chela.Thread](t, d.do(t, call{path: path, secret: readSecret}), http.StatusOK)
	page := decoded[api.Page[chela.Entry]](t, d.do(t, call{path: path + "/entries?limit=1", secret: readSecret}), http.StatusOK)
	if len(page.Items) != 1 || page.Next != "1" {
		t.Errorf("first page is %+v", page)
	}
	page = decoded[api.Page[chela.Entry]](t, d.do(t, call{path: path + "/entries?after=1", secret: readSecret}), http.StatusOK)
	if len(page.Items) != 1 || page.Next != "" || page.Items[0].Text() != "you said hi" {
		t.Errorf("last page is %+v", page)
	}
	if page := decoded[api.Page[chela.Entry]](t, d.do(t, call{path: path + "/entries?path=true", secret: readSecret}), http.StatusOK); len(page.Items) != 2 {
		t.Errorf("path is %+v", page)
	}
}
