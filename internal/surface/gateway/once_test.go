package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
)

// keyed keeps requests as the store does, in memory.
type keyed struct {
	mu   sync.Mutex
	rows map[string]chela.KeyedRequest // guarded by mu
}

func (k *keyed) Claim(_ context.Context, q chela.KeyedRequest, fresh bool) (chela.KeyedRequest, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := string(q.Token) + " " + q.Key
	found, ok := k.rows[id]
	if !ok || fresh || !found.ExpiresAt.After(q.CreatedAt) {
		k.rows[id] = q
		return q, true, nil
	}
	if found.State != chela.RequestFailed || found.Hash != q.Hash {
		return found, false, nil
	}
	found.State = chela.RequestRunning
	k.rows[id] = found
	return found, true, nil
}

func (k *keyed) Settle(_ context.Context, q chela.KeyedRequest) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[string(q.Token)+" "+q.Key] = q
	return nil
}

// with adds a key to a request.
func (c call) with(key string) call {
	c.header = map[string]string{api.MessageIDHeader: key}
	return c
}

// TestARequestWithAKeyIsCarriedOutOnce sends each request twice with its key, then
// with another body and by another token.
func TestARequestWithAKeyIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	d := run(t)
	d.say(t, "hi") // makes the main session
	for name, tt := range map[string]struct {
		path, body, other string
		same              string // the field of the answer that names what was made
	}{
		"message":         {"/api/messages", `{"text":"hi"}`, `{"text":"ho"}`, "turn"},
		"thread":          {"/api/threads", `{"title":"a"}`, `{"title":"b"}`, "id"},
		"reset":           {"/api/sessions/agent:main:main/reset", "", "{}", "id"},
		"attachment":      {"/api/attachments?name=a.txt", "abc", "abd", "sha256"},
		"chat completion": {"/v1/chat/completions", `{"model":"chela","messages":[{"role":"user","content":"hi"}]}`, `{"model":"chela","messages":[{"role":"user","content":"ho"}]}`, "id"},
		"response":        {"/v1/responses", `{"model":"chela","input":"hi"}`, `{"model":"chela","input":"ho"}`, "id"},
		"bare model":      {"/v1/responses", `{"model":"offline/offline","input":"hi"}`, `{"model":"offline/offline","input":"ho"}`, "id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := func(a answer) string {
				var body map[string]any
				if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status/100 != 2 {
					t.Fatalf("answered %d %s (%v)", a.status, a.body, err)
				}
				id, _ := body[tt.same].(string)
				return id
			}
			c := call{method: http.MethodPost, path: tt.path, secret: chatSecret, body: tt.body}.with("k " + name)
			first := made(d.do(t, c))
			if second := made(d.do(t, c)); first == "" || second != first {
				t.Errorf("made %q, and then %q", first, second)
			}
			c.secret = adminSecret
			if other := made(d.do(t, c)); other == first && name != "attachment" {
				t.Errorf("another token was answered with %q, too", other)
			}
			c.secret, c.body = chatSecret, tt.other
			if a := d.do(t, c); name != "reset" && (a.status != http.StatusConflict || !strings.Contains(a.body, "another request")) {
				t.Errorf("another body: %d %s", a.status, a.body)
			}
			c.body, c.path = tt.body, "/api/threads/thr_x/compact"
			if a := d.do(t, c); a.status != http.StatusConflict {
				t.Errorf("another path: %d %s", a.status, a.body)
			}
		})
	}
}

// TestARefusedRequestMayBeSentAgainWithItsKey is refused at first.
func TestARefusedRequestMayBeSentAgainWithItsKey(t *testing.T) {
	t.Parallel()
	d := run(t)
	c := call{path: "/api/threads", secret: chatSecret, body: `{"session":"agent:wrong:main"}`}.with("k")
	for range 2 {
		d.do(t, c).refused(t, http.StatusNotFound, chela.NotFound)
	}
	c.body = `{"title":"a"}`
	d.do(t, c).refused(t, http.StatusConflict, chela.Conflict)
	for _, key := range []string{strings.Repeat("x", 300), "a\tb"} {
		d.do(t, call{path: "/api/messages", secret: chatSecret, body: `{"text":"hi"}`}.with(key)).refused(t, http.StatusBadRequest, chela.Invalid)
	}
}

// TestASecretIsToldOnce makes a token twice with one key.
func TestASecretIsToldOnce(t *testing.T) {
	t.Parallel()
	d := run(t)
	c := call{path: "/api/tokens", secret: adminSecret, body: `{"name":"x","scope":"read"}`}.with("k")
	made := decoded[api.MadeToken](t, d.do(t, c), http.StatusCreated)
	again := d.do(t, c)
	again.refused(t, http.StatusConflict, chela.Conflict)
	for _, q := range d.requests.rows {
		if strings.Contains(q.Answer, made.Secret) || strings.Contains(again.body, made.Secret) {
			t.Errorf("the secret is kept: %+v", q)
		}
	}
}

// TestWhatADeadProcessBeganIsNotGuessed finds a request running that no process
// carries out: one that may be joined is, another one is a Conflict.
func TestWhatADeadProcessBeganIsNotGuessed(t *testing.T) {
	t.Parallel()
	d := run(t)
	thread := call{path: "/api/threads", secret: chatSecret, body: `{"title":"a"}`}.with("k1")
	message := call{path: "/api/messages", secret: chatSecret, body: `{"text":"hi"}`}.with("k2")
	d.do(t, thread)
	first := decoded[api.Receipt](t, d.do(t, message), http.StatusAccepted)
	d.requests.mu.Lock()
	for id, q := range d.requests.rows {
		q.State, q.Answer = chela.RequestRunning, ""
		d.requests.rows[id] = q
	}
	d.requests.mu.Unlock()
	d.do(t, thread).refused(t, http.StatusConflict, chela.Conflict)
	if again := decoded[api.Receipt](t, d.do(t, message), http.StatusAccepted); again.Turn != first.Turn || !again.Duplicate {
		t.Errorf("receipt %+v, then %+v", first, again)
	}
}

// TestRetriesOfAClientJoinTheFirstAttempt counts attempts as OpenAI's clients do.
func TestRetriesOfAClientJoinTheFirstAttempt(t *testing.T) {
	t.Parallel()
	clock := struct {
		sync.Mutex
		now time.Time
	}{now: time.Now()}
	pass := func(d time.Duration) {
		clock.Lock()
		defer clock.Unlock()
		clock.now = clock.now.Add(d)
	}
	d := run(t, func(c *gateway.Config) {
		c.Now = func() time.Time {
			clock.Lock()
			defer clock.Unlock()
			clock.now = clock.now.Add(time.Microsecond)
			return clock.now
		}
	})
	turn := func(attempt, body, secret string) string {
		t.Helper()
		a := decoded[struct {
			Chela struct{ Turn, Session string }
		}](t, d.do(t, call{path: "/v1/chat/completions", secret: secret, body: body, header: map[string]string{"X-Stainless-Retry-Count": attempt}}), http.StatusOK)
		return a.Chela.Session + " " + a.Chela.Turn
	}
	const body = `{"model":"chela","messages":[{"role":"user","content":"hi"}]}`
	first := turn("0", body, chatSecret)
	for _, attempt := range []string{"1", "2"} {
		if got := turn(attempt, body, chatSecret); got != first {
			t.Errorf("attempt %s is the turn %s, not %s", attempt, got, first)
		}
	}
	streamed := strings.Replace(body, "{", `{"stream":true,`, 1)
	for name, got := range map[string]string{
		"another token":           turn("1", body, adminSecret),
		"another body":            turn("1", strings.Replace(body, "hi", "ho", 1), chatSecret),
		"the same question again": turn("0", body, chatSecret),
		"no count":                turn("", body, chatSecret),
	} {
		if got == first {
			t.Errorf("%s is the same turn", name)
		}
	}
	if a := d.do(t, call{path: "/v1/chat/completions", secret: chatSecret, body: streamed}); a.status != http.StatusOK {
		t.Errorf("streamed: %d", a.status)
	}
	second := turn("1", body, chatSecret)
	pass(11 * time.Minute)
	if late := turn("1", body, chatSecret); late == second {
		t.Error("a retry after eleven minutes joined the first attempt")
	}
}
