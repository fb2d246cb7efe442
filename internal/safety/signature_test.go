package safety_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/safety"
)

// An example is a request that its verifier lets in.
type example struct {
	verifier safety.Verifier
	headers  map[string]string
	body     string
	now      time.Time
	want     safety.Delivery
}

// published returns the example of each scheme, as its service publishes it.
func published() map[string]example {
	return map[string]example{
		// docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries,
		// "Testing the webhook payload validation"; the id is not part of it.
		"github": {
			verifier: safety.Verifier{Scheme: safety.SchemeGitHub, Secret: []byte("It's a Secret to Everybody")},
			headers: map[string]string{
				"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
				"X-GitHub-Delivery":   "72d3162e-cc78-11e3-81ab-4c9367dc0958",
			},
			body: "Hello, World!",
			now:  time.Unix(1531420618, 0),
			want: safety.Delivery{
				Key:  "72d3162e-cc78-11e3-81ab-4c9367dc0958",
				Seal: "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
			},
		},
		// api.slack.com/docs/verifying-requests-from-slack, the step by step example.
		"slack": {
			verifier: safety.Verifier{Scheme: safety.SchemeSlack, Secret: []byte("8f742231b10e8888abcd99yyyzzz85a5")},
			headers: map[string]string{
				"X-Slack-Signature":         "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
				"X-Slack-Request-Timestamp": "1531420618",
			},
			body: slackBody,
			now:  time.Unix(1531420618, 0),
			want: safety.Delivery{
				Key:  "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
				Seal: "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
				At:   time.Unix(1531420618, 0).UTC(),
			},
		},
		// github.com/stripe/stripe-dotnet, EventUtilityTest.cs with
		// src/StripeTests/Resources/event_test_signature.json; the page
		// docs.stripe.com/webhooks shows a header without its body.
		"stripe": {
			verifier: safety.Verifier{Scheme: safety.SchemeStripe, Secret: []byte("webhook_secret")},
			headers: map[string]string{
				"Stripe-Signature": "t=1533204620,v1=f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef",
			},
			body: stripeBody,
			now:  time.Unix(1533204720, 0),
			want: safety.Delivery{
				Key:  "evt_123",
				Seal: "f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613",
				At:   time.Unix(1533204620, 0).UTC(),
			},
		},
		// Made with the line for the shell in the package's documentation.
		"hmac": {
			verifier: safety.Verifier{Scheme: safety.SchemeHMAC, Secret: []byte("correct horse")},
			headers: map[string]string{
				"X-Chela-Signature": "sha256=56659ddeee414e4a3ce0985a34c7e78e4955f5679850e413a2d227b90b458b08",
				"X-Chela-Timestamp": "1700000000",
			},
			body: `{"text":"build failed"}`,
			now:  time.Unix(1700000001, 0),
			want: safety.Delivery{
				Key:  "56659ddeee414e4a3ce0985a34c7e78e4955f5679850e413a2d227b90b458b08",
				Seal: "56659ddeee414e4a3ce0985a34c7e78e4955f5679850e413a2d227b90b458b08",
				At:   time.Unix(1700000000, 0).UTC(),
			},
		},
		"secret": {
			verifier: safety.Verifier{Scheme: safety.SchemeSecret, Secret: []byte("correct horse")},
			headers:  map[string]string{"X-Chela-Secret": "correct horse", "X-Chela-Delivery": "build-17"},
			body:     "anything",
			now:      time.Unix(1700000001, 0),
			want:     safety.Delivery{Key: "build-17"},
		},
	}
}

const slackBody = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"

const stripeBody = `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "ii_123",
      "object": "invoiceitem",
      "amount": 1000,
      "currency": "usd",
      "customer": "cus_123",
      "date": 1533204620,
      "description": "Test Invoice Item",
      "discountable": false,
      "invoice": "in_123",
      "livemode": false,
      "metadata": {},
      "period": {
        "start": 1533204620,
        "end": 1533204620
      },
      "plan": null,
      "proration": false,
      "quantity": null,
      "subscription": null
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "invoiceitem.created"
}
`

func (e example) verify() (safety.Delivery, error) {
	h := http.Header{}
	for name, value := range e.headers {
		h.Set(name, value)
	}
	return e.verifier.Verify(h, []byte(e.body), e.now)
}

// with returns the example with one header changed.
func (e example) with(name, value string) example {
	changed := map[string]string{name: value}
	for n, v := range e.headers {
		if n != name {
			changed[n] = v
		}
	}
	e.headers = changed
	return e
}

func TestPublishedExamples(t *testing.T) {
	t.Parallel()
	for name, e := range published() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // a replay has the same key
				got, err := e.verify()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(e.want, got); diff != "" {
					t.Errorf("delivery (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestForgedRequests(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*example){
		"other secret":  func(e *example) { e.verifier.Secret = []byte("something else") },
		"longer secret": func(e *example) { e.verifier.Secret = append([]byte{0}, e.verifier.Secret...) },
		"longer body":   func(e *example) { e.body += " " },
		"no headers":    func(e *example) { e.headers = nil },
	}
	for by, other := range published() {
		changes["headers of "+by] = func(e *example) { e.headers = other.headers }
	}
	for name, e := range published() {
		for change, apply := range changes {
			if change == "headers of "+name || change == "longer body" && name == "secret" {
				continue
			}
			t.Run(name+" with "+change, func(t *testing.T) {
				t.Parallel()
				e := e
				apply(&e)
				got, err := e.verify()
				checkDenied(t, change, err, "")
				if got != (safety.Delivery{}) {
					t.Errorf("a refused request is the delivery %+v", got)
				}
				expected := macOf(string(e.verifier.Secret), e.body)
				for _, secret := range []string{string(e.verifier.Secret), expected, e.want.Seal} {
					if secret != "" && strings.Contains(fmt.Sprint(err, chela.MessageOf(err)), secret) {
						t.Errorf("the error gives away what must be secret: %v", err)
					}
				}
			})
		}
	}
}

// checkDenied wants a refusal whose words for people hold a text.
func checkDenied(t *testing.T, name string, err error, hint string) {
	t.Helper()
	if chela.KindOf(err) != chela.Denied || !strings.Contains(chela.MessageOf(err), hint) {
		t.Errorf("%s: got %v, want a Denied error with %q", name, err, hint)
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	for name, e := range published() {
		if e.want.At.IsZero() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests := []struct {
				age       time.Duration
				tolerance time.Duration
				hint      string // empty: let in
			}{
				{age: 5 * time.Minute},
				{age: -5 * time.Minute},
				{age: 5*time.Minute + time.Second, hint: "more than 5m0s ago"},
				{age: -5*time.Minute - time.Second, hint: "more than 5m0s ahead"},
				{age: 24 * 365 * time.Hour, hint: "ago"},
				{age: 10 * time.Minute, tolerance: 10 * time.Minute},
				{age: 2 * time.Second, tolerance: time.Second, hint: "more than 1s ago"},
			}
			for _, test := range tests {
				at := e
				at.now = e.want.At.Add(test.age)
				at.verifier.Tolerance = test.tolerance
				got, err := at.verify()
				switch {
				case test.hint != "":
					checkDenied(t, test.age.String(), err, test.hint)
				case err != nil || got != e.want:
					t.Errorf("%v: got %+v, %v", test.age, got, err)
				}
			}
		})
	}
}

// A delivery that was signed without its time is as good years later: only who
// remembers its key or seal sees that it comes again.
func TestGitHubSignsNoTime(t *testing.T) {
	t.Parallel()
	e := published()["github"]
	e.now = e.now.AddDate(3, 0, 0)
	if got, err := e.verify(); err != nil || got != e.want {
		t.Errorf("after years: got %+v, %v", got, err)
	}
	got, err := e.with("X-GitHub-Delivery", "another").verify()
	if err != nil || got.Key != "another" || got.Seal != e.want.Seal {
		t.Errorf("under another id: got %+v, %v; want the same seal", got, err)
	}
}

// Who tries again signs again, so that the signature tells nothing: the event
// is the same.
func TestKeyOfWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	const secret, body = "webhook_secret", `{"id": "evt_1", "event_id": "Ev08MFMKH6"}`
	for _, test := range []struct {
		scheme safety.Scheme
		body   string
		want   string // empty: two keys
	}{
		{safety.SchemeStripe, body, "evt_1"},
		{safety.SchemeSlack, body, "Ev08MFMKH6"},
		{safety.SchemeStripe, `{"id": 17}`, ""},
		{safety.SchemeStripe, `{"id": "two words"}`, ""},
		{safety.SchemeStripe, `{"id": "` + strings.Repeat("x", 201) + `"}`, ""},
		{safety.SchemeStripe, `{"ID": "evt_1"}`, ""},
		{safety.SchemeStripe, `["id"]`, ""},
		{safety.SchemeSlack, "event_id=Ev08MFMKH6", ""},
	} {
		v := safety.Verifier{Scheme: test.scheme, Secret: []byte(secret)}
		var keys []string
		for _, seconds := range []int64{1533204620, 1533204680} {
			d, err := v.Verify(signAs(test.scheme, secret, test.body, seconds), []byte(test.body), time.Unix(1533204680, 0))
			if err != nil {
				t.Fatalf("%s %s: %v", test.scheme, test.body, err)
			}
			keys = append(keys, d.Key)
		}
		switch {
		case test.want != "" && (keys[0] != test.want || keys[1] != test.want):
			t.Errorf("%s %s: got the keys %q, want %q twice", test.scheme, test.body, keys, test.want)
		case test.want == "" && keys[0] == keys[1]:
			t.Errorf("%s %s: got the key %q twice", test.scheme, test.body, keys[0])
		}
	}
}

// signAs signs for Stripe, and for Slack, with chela's own way of signing as a
// source of signatures: what is signed begins with the timestamp.
func signAs(scheme safety.Scheme, secret, body string, seconds int64) http.Header {
	h := http.Header{}
	if scheme == safety.SchemeStripe {
		mac := strings.TrimPrefix(safety.Sign([]byte(secret), []byte(body), time.Unix(seconds, 0)).Get("X-Chela-Signature"), "sha256=")
		h.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", seconds, mac))
		return h
	}
	h.Set("X-Slack-Request-Timestamp", fmt.Sprint(seconds))
	h.Set("X-Slack-Signature", "v0="+macOf(secret, fmt.Sprintf("v0:%d:%s", seconds, body)))
	return h
}
