package safety_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/safety"
)

// macOf is the HMAC-SHA256 of a text in hexadecimal digits.
func macOf(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestHeadersThatAreRefused(t *testing.T) {
	t.Parallel()
	const mac = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	tests := []struct {
		of, header, value string
		hint              string
	}{
		{"github", "X-Hub-Signature-256", "", "send the header X-Hub-Signature-256"},
		{"github", "X-Hub-Signature-256", mac, "send X-Hub-Signature-256: sha256=HEX"},
		{"github", "X-Hub-Signature-256", "sha1=" + mac, "sha256=HEX"},
		{"github", "X-Hub-Signature-256", "SHA256=" + mac, "sha256=HEX"},
		{"github", "X-Hub-Signature-256", "sha256=" + mac + ", sha256=" + mac, "sha256=HEX"},
		{"github", "X-Hub-Signature-256", "sha256=" + mac[:62], "does not match this body"},
		{"github", "X-Hub-Signature-256", "sha256=", "does not match this body"},
		{"github", "X-Hub-Signature-256", "sha256=" + mac[:63], "sha256=HEX"},
		{"github", "X-GitHub-Delivery", "", "send the header X-GitHub-Delivery"},
		{"github", "X-GitHub-Delivery", strings.Repeat("x", 201), "up to 200"},
		{"github", "X-GitHub-Delivery", "two words", "without spaces"},
		{"github", "X-GitHub-Delivery", "naïve", "letters, digits and marks"},
		{"slack", "X-Slack-Signature", "", "send the header X-Slack-Signature"},
		{"slack", "X-Slack-Signature", "v1=" + mac, "v0=HEX"},
		{"slack", "X-Slack-Request-Timestamp", "", "send the header X-Slack-Request-Timestamp"},
		{"slack", "X-Slack-Request-Timestamp", "soon", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "+1531420618", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "-1531420618", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "1531420618.5", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "9999999999999999999999", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "0000001531420618", "date +%s"},
		{"slack", "X-Slack-Request-Timestamp", "01531420618", "does not match this body"},
		{"hmac", "X-Chela-Signature", "", "send the header X-Chela-Signature"},
		{"hmac", "X-Chela-Timestamp", "", "send the header X-Chela-Timestamp"},
		{"stripe", "Stripe-Signature", "", "send the header Stripe-Signature"},
		{"stripe", "Stripe-Signature", "t=1533204620", "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "v1=" + mac, "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "t=1533204620,v0=" + mac, "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "t=1533204620,t=1533204621,v1=" + mac, "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "t=,v1=" + mac, "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "t=1533204620,v1=xyz", "t=TIMESTAMP,v1=HEX"},
		{"stripe", "Stripe-Signature", "t=now,v1=" + mac, "date +%s"},
		{"stripe", "Stripe-Signature", "t=1533204620,v1=" + mac, "does not match this body"},
		{"secret", "X-Chela-Secret", "", "send the header X-Chela-Secret"},
		{"secret", "X-Chela-Secret", "correct", "secret of the request does not match"},
		{"secret", "X-Chela-Delivery", "two words", "without spaces"},
	}
	for _, test := range tests {
		_, err := published()[test.of].with(test.header, test.value).verify()
		checkDenied(t, test.of+" "+test.header+": "+test.value, err, test.hint)
	}
}

func TestHeadersThatComeTwice(t *testing.T) {
	t.Parallel()
	for name, e := range published() {
		for twice := range e.headers {
			h := http.Header{}
			for n, v := range e.headers {
				h.Add(n, v)
			}
			h.Add(twice, e.headers[twice])
			_, err := e.verifier.Verify(h, []byte(e.body), e.now)
			checkDenied(t, name+" "+twice, err, "send "+twice+" once")
		}
	}
}

func TestDigitsOfAnyCase(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"github": "X-Hub-Signature-256: sha256=",
		"slack":  "X-Slack-Signature: v0=",
		"hmac":   "X-Chela-Signature: sha256=",
		"stripe": "Stripe-Signature: t=1533204620,v1=",
	}
	for name, header := range tests {
		e := published()[name]
		field, prefix, _ := strings.Cut(header, ": ")
		got, err := e.with(field, prefix+strings.ToUpper(e.want.Seal)).verify()
		if err != nil || got != e.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, e.want)
		}
	}
}

// While a secret is exchanged, Stripe signs with both.
func TestStripeSignaturesOfTwoSecrets(t *testing.T) {
	t.Parallel()
	e := published()["stripe"]
	old := macOf("old_secret", "1533204620."+e.body)
	for _, sent := range []string{
		"t=1533204620,v1=" + old + ",v1=" + e.want.Seal,
		"t=1533204620,v1=" + e.want.Seal + ",v1=" + old,
		"v1=" + e.want.Seal + ", v1=" + old + ", t=1533204620, new=thing",
	} {
		if got, err := e.with("Stripe-Signature", sent).verify(); err != nil || got != e.want {
			t.Errorf("%s: got %+v, %v", sent, got, err)
		}
	}
	_, err := e.with("Stripe-Signature", "t=1533204620,v1="+old).verify()
	checkDenied(t, "old alone", err, "does not match this body")
}

func TestSecretsAsBearer(t *testing.T) {
	t.Parallel()
	e := published()["secret"]
	for _, test := range []struct {
		secret, authorization string
		hint                  string // empty: let in
	}{
		{authorization: "Bearer correct horse"},
		{authorization: "bearer  correct horse"},
		{authorization: "Bearer", hint: "Authorization: Bearer SECRET"},
		{authorization: "Basic Y29ycmVjdA==", hint: "Authorization: Bearer SECRET"},
		{authorization: "Bearer correct", hint: "does not match"},
		{secret: "correct horse", authorization: "Basic Y29ycmVjdA=="},
		{secret: "wrong", authorization: "Bearer correct horse", hint: "does not match"},
	} {
		h := http.Header{"Authorization": {test.authorization}}
		if test.secret != "" {
			h.Set("X-Chela-Secret", test.secret)
		}
		got, err := e.verifier.Verify(h, nil, e.now)
		switch {
		case test.hint != "":
			checkDenied(t, test.authorization, err, test.hint)
		case err != nil || got != (safety.Delivery{}):
			t.Errorf("%+v: got %+v, %v", test, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		verifier safety.Verifier
		hint     string // empty: fine
	}{
		{safety.Verifier{Scheme: safety.SchemeSlack, Secret: []byte("x")}, ""},
		{safety.Verifier{Scheme: safety.SchemeSlack}, "set one"},
		{safety.Verifier{Secret: []byte("x")}, "use one of secret hmac github"},
		{safety.Verifier{Scheme: "GitHub", Secret: []byte("x")}, "use one of secret hmac github"},
		{safety.Verifier{Scheme: safety.SchemeHMAC, Secret: []byte("x"), Tolerance: -1}, "use 5m"},
		{safety.Verifier{Scheme: safety.SchemeBody, Secret: []byte("x"), Header: "X-Sig", Encoding: "hex"}, ""},
		{safety.Verifier{Scheme: safety.SchemeBody, Secret: []byte("x"), Encoding: "hex"}, "X-Signature"},
		{safety.Verifier{Scheme: safety.SchemeBody, Secret: []byte("x"), Header: "X-Sig"}, "use hex or base64"},
		{safety.Verifier{Scheme: safety.SchemeSlack, Secret: []byte("x"), Header: "X-Sig"}, "use the scheme body"},
	}
	for _, test := range tests {
		err := test.verifier.Check()
		if test.hint == "" {
			if err != nil {
				t.Errorf("%+v: %v", test.verifier, err)
			}
			continue
		}
		_, asked := test.verifier.Verify(http.Header{}, nil, time.Unix(0, 0))
		for _, err := range []error{err, asked} {
			if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.HintOf(err), test.hint) {
				t.Errorf("%+v: got %v, want an Invalid error with %q", test.verifier, err, test.hint)
			}
		}
	}
}

// An empty secret would let in everybody who knows that it is empty.
func TestEmptySecretVerifiesNothing(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	v := safety.Verifier{Scheme: safety.SchemeHMAC}
	if _, err := v.Verify(safety.Sign(nil, nil, now), nil, now); chela.KindOf(err) != chela.Invalid {
		t.Errorf("got %v, want an Invalid error", err)
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	e := published()["hmac"]
	want := http.Header{}
	for n, v := range e.headers {
		want.Set(n, v)
	}
	got := safety.Sign(e.verifier.Secret, []byte(e.body), e.want.At)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// FuzzHeaders sends what nobody signed: it is refused, whatever it is.
func FuzzHeaders(f *testing.F) {
	for _, e := range published() {
		for _, value := range e.headers {
			f.Add(value, "1531420618", "")
			f.Add(value, "", value)
		}
	}
	f.Add("t=1,v1=,v1=00,t=", "+1", "Bearer ")
	secret := []byte("a secret that is in no header")
	f.Fuzz(func(t *testing.T, signed, stamp, other string) {
		h := http.Header{}
		for _, name := range []string{"X-Chela-Secret", "X-Chela-Signature", "X-Hub-Signature-256", "Stripe-Signature", "X-Slack-Signature"} {
			h.Set(name, signed)
		}
		for _, name := range []string{"X-Chela-Timestamp", "X-Slack-Request-Timestamp"} {
			h.Set(name, stamp)
		}
		for _, name := range []string{"X-GitHub-Delivery", "X-Chela-Delivery", "Authorization"} {
			h.Set(name, other)
		}
		for _, scheme := range []safety.Scheme{
			safety.SchemeSecret, safety.SchemeHMAC, safety.SchemeGitHub, safety.SchemeStripe, safety.SchemeSlack,
		} {
			v := safety.Verifier{Scheme: scheme, Secret: secret}
			_, err := v.Verify(h, []byte(other), time.Unix(1531420618, 0))
			if chela.KindOf(err) != chela.Denied {
				t.Errorf("%s: got %v, want a Denied error", scheme, err)
			}
		}
	})
}
