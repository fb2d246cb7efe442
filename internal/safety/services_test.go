package safety_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"chela"
	"chela/internal/safety"
)

// base64Of is the HMAC-SHA256 of a text in base64.
func base64Of(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TestStandardWebhooks verifies the example of the specification's libraries
// (github.com/standard-webhooks/standard-webhooks, javascript/src/index.test.ts), under
// both names of the headers.
func TestStandardWebhooks(t *testing.T) {
	t.Parallel()
	const id, body, right = "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	at := time.Unix(1614265330, 0)
	v := safety.Verifier{Scheme: safety.SchemeStandard, Secret: []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}
	verify := func(prefix, signature string, now time.Time) (string, error) {
		h := http.Header{}
		h.Set(prefix+"Id", id)
		h.Set(prefix+"Timestamp", "1614265330")
		h.Set(prefix+"Signature", signature)
		d, err := v.Verify(h, []byte(body), now)
		return d.Key, err
	}
	for _, prefix := range []string{"Webhook-", "Svix-"} {
		for _, sent := range []string{right, "v1,AAAA " + right, right + " v1a,AAAA", "v2,AAAA " + right} {
			if key, err := verify(prefix, sent, at.Add(time.Minute)); err != nil || key != id {
				t.Errorf("%s %s: %q, %v", prefix, sent, key, err)
			}
		}
		for sent, hint := range map[string]string{
			"v1,AAAA": "sign the raw bytes", "v2," + right[3:]: "v1,BASE64", "v1,not base64": "v1,BASE64", right[3:]: "v1,BASE64", "": "send the header",
		} {
			_, err := verify(prefix, sent, at)
			checkDenied(t, prefix+sent, err, hint)
		}
		_, err := verify(prefix, right, at.Add(6*time.Minute))
		checkDenied(t, prefix+" late", err, "compare the clocks")
	}
	v.Secret = []byte("plain secret")
	if key, err := verify("Webhook-", "v1,"+base64Of("plain secret", id+".1614265330."+body), at); err != nil || key != id {
		t.Errorf("a secret that is not base64: %q, %v", key, err)
	}
}

// TestServices verifies requests as services sign them, and none whose body, secret or
// encoding differs.
func TestServices(t *testing.T) {
	t.Parallel()
	const secret, body = "swordfish", `{"action":"create"}`
	for name, s := range map[string]struct {
		verifier safety.Verifier
		header   string
		sent     string
		id       string // header of the delivery id
	}{
		"linear":  {safety.Verifier{Scheme: safety.SchemeLinear}, "Linear-Signature", macOf(secret, body), "Linear-Delivery"},
		"shopify": {safety.Verifier{Scheme: safety.SchemeShopify}, "X-Shopify-Hmac-Sha256", base64Of(secret, body), "X-Shopify-Webhook-Id"},
		"gitea":   {safety.Verifier{Scheme: safety.SchemeGitea}, "X-Gitea-Signature", macOf(secret, body), "X-Gitea-Delivery"},
		"sentry":  {safety.Verifier{Scheme: safety.SchemeSentry}, "Sentry-Hook-Signature", macOf(secret, body), "Request-Id"},
		"own":     {safety.Verifier{Scheme: safety.SchemeBody, Header: "X-Sig", Prefix: "sha256=", Encoding: "base64"}, "X-Sig", "sha256=" + base64Of(secret, body), ""},
		"gitlab":  {safety.Verifier{Scheme: safety.SchemeGitLab}, "X-Gitlab-Token", secret, "Idempotency-Key"},
	} {
		s.verifier.Secret = []byte(secret)
		verify := func(sent, body, id string) (safety.Delivery, error) {
			h := http.Header{}
			h.Set(s.header, sent)
			if id != "" && s.id != "" {
				h.Set(s.id, id)
			}
			return s.verifier.Verify(h, []byte(body), time.Unix(0, 0))
		}
		d, err := verify(s.sent, body, "id-1")
		if err != nil || s.id != "" && d.Key != "id-1" || name != "gitlab" && d.Seal != macOf(secret, body) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if d, err := verify(s.sent, body, ""); err != nil || d.Key != d.Seal {
			t.Errorf("%s without an id: %+v, %v", name, d, err)
		}
		for _, sent := range []string{"", "x" + s.sent, s.sent + "!", macOf("sailfish", body), base64Of("sailfish", body), "sha256=" + base64Of("sailfish", body)} {
			if _, err := verify(sent, body, "id-1"); chela.KindOf(err) != chela.Denied {
				t.Errorf("%s lets in %q: %v", name, sent, err)
			}
		}
		if _, err := verify(s.sent, body+" ", "id-1"); name != "gitlab" && chela.KindOf(err) != chela.Denied {
			t.Errorf("%s lets in another body: %v", name, err)
		}
		if _, err := verify(s.sent, body, "two words"); s.id != "" && chela.KindOf(err) != chela.Denied {
			t.Errorf("%s lets in an id of two words: %v", name, err)
		}
	}
}
