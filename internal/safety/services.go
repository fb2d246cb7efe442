package safety

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"chela"
)

// Encodings of a signature.
const (
	EncodingHex    = "hex"
	EncodingBase64 = "base64"
)

// A macScheme signs the body, behind a time if there is one, in a header of its own.
type macScheme struct {
	header, prefix string
	encoding       string // EncodingBase64; otherwise EncodingHex
	stamp, before  string // the header of the time, and the form of what is signed before the body
	id             string // header of the delivery id; empty for none
	needsID        bool   // the header must be there
	field          string // of the body, with the id of an event, which a retried delivery keeps; empty for none
}

// macSchemes are our own and those of services; see https://linear.app/developers/webhooks,
// https://shopify.dev/docs/apps/build/webhooks/subscribe/https,
// https://docs.gitea.com/usage/webhooks and
// https://docs.sentry.io/organization/integrations/integration-platform/webhooks/.
var macSchemes = map[Scheme]macScheme{
	SchemeHMAC:    {header: headerSignature, prefix: "sha256=", stamp: headerTimestamp, before: "%s."},
	SchemeGitHub:  {header: "X-Hub-Signature-256", prefix: "sha256=", id: "X-GitHub-Delivery", needsID: true},
	SchemeSlack:   {header: "X-Slack-Signature", prefix: "v0=", stamp: "X-Slack-Request-Timestamp", before: "v0:%s:", field: "event_id"},
	SchemeLinear:  {header: "Linear-Signature", id: "Linear-Delivery"},
	SchemeShopify: {header: "X-Shopify-Hmac-Sha256", encoding: EncodingBase64, id: "X-Shopify-Webhook-Id"},
	SchemeGitea:   {header: "X-Gitea-Signature", id: "X-Gitea-Delivery"},
	SchemeSentry:  {header: "Sentry-Hook-Signature", id: "Request-ID"},
}

func (v Verifier) verifyMAC(s macScheme, header http.Header, body []byte, now time.Time) (Delivery, error) {
	var before, id string
	var at time.Time
	if s.stamp != "" {
		stamp, signed, err := timeOf(header, s.stamp)
		if err != nil {
			return Delivery{}, err
		}
		before, at = fmt.Sprintf(s.before, stamp), signed
	}
	mac, err := s.macOf(header)
	if err != nil {
		return Delivery{}, err
	}
	want := sum(v.Secret, before, body)
	if !hmac.Equal(mac, want) {
		return Delivery{}, forged(s.header)
	}
	switch {
	case s.field != "":
		id = idIn(body, s.field)
	case s.needsID || s.id != "" && len(header.Values(s.id)) > 0:
		if id, err = idOf(header, s.id); err != nil {
			return Delivery{}, err
		}
	}
	return v.timely(sealed(want, at, id), now)
}

// macOf decodes the signature in the header of a scheme.
func (s macScheme) macOf(header http.Header) ([]byte, error) {
	sent, err := one(header, s.header)
	if err != nil {
		return nil, err
	}
	text, ok := strings.CutPrefix(sent, s.prefix)
	decode, form := hex.DecodeString, "HEX"
	if s.encoding == EncodingBase64 {
		decode, form = base64.StdEncoding.DecodeString, "BASE64"
	}
	mac, err := decode(text)
	if !ok || err != nil {
		return nil, malformed(s.header, s.prefix+form)
	}
	return mac, nil
}

// verifyGitLab compares the token, see
// https://docs.gitlab.com/user/project/integrations/webhooks/. A retried delivery
// has the same idempotency key.
func (v Verifier) verifyGitLab(header http.Header) (Delivery, error) {
	sent, err := one(header, "X-Gitlab-Token")
	if err != nil {
		return Delivery{}, err
	}
	if !same([]byte(sent), v.Secret) {
		return Delivery{}, chela.E(chela.Denied, "the token of the request does not match").WithHint("set the same secret token in GitLab")
	}
	for _, name := range []string{"Idempotency-Key", "X-Gitlab-Event-UUID"} {
		if len(header.Values(name)) > 0 {
			id, err := idOf(header, name)
			return Delivery{Key: id}, err
		}
	}
	return Delivery{}, nil
}

// verifyStandard follows https://github.com/standard-webhooks/standard-webhooks, and
// Svix, whose headers have other names. The secret is base64, behind whsec_.
func (v Verifier) verifyStandard(header http.Header, body []byte, now time.Time) (Delivery, error) {
	prefix := "Webhook-"
	if len(header.Values("Svix-Signature")) > 0 {
		prefix = "Svix-"
	}
	id, err := idOf(header, prefix+"Id")
	if err != nil {
		return Delivery{}, err
	}
	stamp, at, err := timeOf(header, prefix+"Timestamp")
	if err != nil {
		return Delivery{}, err
	}
	sent, err := one(header, prefix+"Signature")
	if err != nil {
		return Delivery{}, err
	}
	want := sum(standardKey(v.Secret), id+"."+stamp+".", body)
	found, readable := false, false
	for part := range strings.FieldsSeq(sent) { // several during a rotation of the secret
		text, ok := strings.CutPrefix(part, "v1,")
		mac, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil {
			readable = true
			found = hmac.Equal(mac, want) || found
		}
	}
	switch {
	case !readable:
		return Delivery{}, malformed(prefix+"Signature", "v1,BASE64")
	case !found:
		return Delivery{}, forged(prefix + "Signature")
	default:
		return v.timely(sealed(want, at, id), now)
	}
}

// standardKey returns the key of a secret: its bytes behind whsec_ decoded from
// base64, or the secret itself.
func standardKey(secret []byte) []byte {
	text, ok := strings.CutPrefix(string(secret), "whsec_")
	if key, err := base64.StdEncoding.DecodeString(text); ok && err == nil {
		return key
	}
	return secret
}

// checkBody returns Invalid unless the options of SchemeBody are complete, and set
// for that scheme only.
func (v Verifier) checkBody() error {
	switch {
	case v.Scheme != SchemeBody && v.Header+v.Prefix+v.Encoding != "":
		return chela.Ef(chela.Invalid, "the scheme %s has a header and an encoding of its own", v.Scheme).
			WithHint("leave them out, or use the scheme body")
	case v.Scheme != SchemeBody:
		return nil
	case v.Header == "":
		return chela.E(chela.Invalid, "the scheme body needs the header of the signature").WithHint("name it, such as X-Signature")
	case v.Encoding != EncodingHex && v.Encoding != EncodingBase64:
		return chela.Ef(chela.Invalid, "%q is not an encoding of signatures", v.Encoding).WithHint("use hex or base64")
	default:
		return nil
	}
}
