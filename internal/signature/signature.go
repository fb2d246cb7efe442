// Package signature tells whether a request to a webhook comes from who knows
// its secret. It is pure: whoever calls it brings the time and remembers which
// deliveries were taken.
//
//	secret   X-Chela-Secret: SECRET, or Authorization: Bearer SECRET
//	hmac     X-Chela-Signature: sha256=HEX over TIMESTAMP "." BODY, with X-Chela-Timestamp
//	github   X-Hub-Signature-256: sha256=HEX over BODY, with X-GitHub-Delivery
//	stripe   Stripe-Signature: t=TIMESTAMP,v1=HEX[,v1=HEX] over TIMESTAMP "." BODY
//	slack    X-Slack-Signature: v0=HEX over "v0:" TIMESTAMP ":" BODY, with X-Slack-Request-Timestamp
//
// All signatures are HMAC-SHA256 of bytes as they came; hexadecimal digits count
// whatever their case. Timestamps are seconds since 1970. A shell signs with
//
//	t=$(date +%s)
//	hex=$( (printf '%s.' "$t"; cat body) | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
//	curl -H "X-Chela-Timestamp: $t" -H "X-Chela-Signature: sha256=$hex" --data-binary @body URL
//
// What a signature shows differs. With secret, it is only who sends. With
// github, also what is sent, but neither when nor under which id: whoever
// recorded a delivery can send it again, at any time and under another id, so
// that only who remembers what was taken (Delivery.Seal) refuses it. The other
// schemes sign the time too: what was recorded is of no use after the
// tolerance, and until then Delivery.Key gives it away.
package signature

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"chela"
)

// DefaultTolerance is how far the time of a delivery may be from now, in the
// past as in the future, where a Verifier says nothing else.
const DefaultTolerance = 5 * time.Minute

// A Scheme is a way of showing that one knows the secret of a webhook.
type Scheme string

// The schemes.
const (
	SchemeSecret Scheme = "secret" // the secret itself is sent
	SchemeHMAC   Scheme = "hmac"   // chela's own, as Sign makes it
	SchemeGitHub Scheme = "github"
	SchemeStripe Scheme = "stripe"
	SchemeSlack  Scheme = "slack"
)

// A Verifier lets in whoever knows the secret of a webhook.
type Verifier struct {
	Scheme    Scheme
	Secret    []byte
	Tolerance time.Duration // zero for DefaultTolerance; schemes that sign no time do not use it
}

// A Delivery is a request that was let in.
type Delivery struct {
	// Key names the delivery among all of its webhook: the id that the sender
	// gave it, or else its Seal. A delivery that comes again has the same key.
	// It is empty where a request by secret names none (X-Chela-Delivery).
	Key string

	// Seal is the signature in hexadecimal digits: what nobody changes who does
	// not know the secret. It is empty for requests by secret. Two deliveries of
	// GitHub with the same body have the same seal.
	Seal string

	// At is when the delivery was signed, zero where that is not known.
	At time.Time
}

// Check returns an Invalid error if v can let nobody in, or lets everybody in.
func (v Verifier) Check() error {
	switch v.Scheme {
	case SchemeSecret, SchemeHMAC, SchemeGitHub, SchemeStripe, SchemeSlack:
	default:
		return chela.E(chela.Invalid, fmt.Sprintf("%q is no way of signing requests", v.Scheme)).
			WithHint("use secret, hmac, github, stripe or slack")
	}
	switch {
	case len(v.Secret) == 0:
		return chela.E(chela.Invalid, "the secret of the webhook is empty").WithHint("give it a secret, for example from openssl rand -hex 32")
	case v.Tolerance < 0:
		return chela.E(chela.Invalid, fmt.Sprintf("a tolerance of %v lets nobody in", v.Tolerance)).WithHint("use 5m")
	default:
		return nil
	}
}

// Verify returns the delivery that a request is, given its body as it came. A
// request that must not be let in is a Denied error, which holds neither the
// secret nor the signature that was expected. A verifier that fails its Check
// is an Invalid error.
func (v Verifier) Verify(header http.Header, body []byte, now time.Time) (Delivery, error) {
	if err := v.Check(); err != nil {
		return Delivery{}, err
	}
	switch v.Scheme {
	case SchemeSecret:
		return v.verifySecret(header)
	case SchemeGitHub:
		return v.verifyGitHub(header, body)
	case SchemeStripe:
		return v.verifyStripe(header, body, now)
	case SchemeSlack:
		return v.verifySlack(header, body, now)
	default:
		return v.verifyHMAC(header, body, now)
	}
}

// Sign returns the headers that show, by SchemeHMAC, that who sends body
// at a time knows secret.
func Sign(secret, body []byte, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set(headerTimestamp, stamp)
	h.Set(headerSignature, "sha256="+hex.EncodeToString(sum(secret, stamp+".", body)))
	return h
}

// sum returns the HMAC-SHA256 of a body after what is put before it.
func sum(secret []byte, before string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(before))
	mac.Write(body)
	return mac.Sum(nil)
}

// same compares secrets in a time that tells nothing about them, not even how
// long they are.
func same(a, b []byte) bool {
	x, y := sha256.Sum256(a), sha256.Sum256(b)
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// timely returns d unless it was signed too long ago, or will be.
func (v Verifier) timely(d Delivery, now time.Time) (Delivery, error) {
	tolerance := cmp.Or(v.Tolerance, DefaultTolerance)
	switch age := now.Sub(d.At); {
	case age > tolerance:
		return Delivery{}, chela.E(chela.Denied, fmt.Sprintf("the request was signed more than %v ago", tolerance)).
			WithHint("sign it again when it is sent, and compare the clocks of both sides")
	case age < -tolerance:
		return Delivery{}, chela.E(chela.Denied, fmt.Sprintf("the request was signed more than %v ahead of now", tolerance)).
			WithHint("compare the clocks of both sides")
	default:
		return d, nil
	}
}
