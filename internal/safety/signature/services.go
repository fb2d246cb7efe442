package signature

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"chela"
)

// A bodyScheme signs the raw body alone, in a header of its own.
type bodyScheme struct {
	header, prefix string
	encoding       string // EncodingHex or EncodingBase64
	id             string // header of the delivery id; empty for none
}

// Encodings of a signature.
const (
	EncodingHex    = "hex"
	EncodingBase64 = "base64"
)

// bodySchemes are those of services; see https://linear.app/developers/webhooks,
// https://shopify.dev/docs/apps/build/webhooks/subscribe/https,
// https://docs.gitea.com/usage/webhooks and
// https://docs.sentry.io/organization/integrations/integration-platform/webhooks/.
var bodySchemes = map[Scheme]bodyScheme{
	SchemeLinear:  {header: "Linear-Signature", encoding: EncodingHex, id: "Linear-Delivery"},
	SchemeShopify: {header: "X-Shopify-Hmac-Sha256", encoding: EncodingBase64, id: "X-Shopify-Webhook-Id"},
	SchemeGitea:   {header: "X-Gitea-Signature", encoding: EncodingHex, id: "X-Gitea-Delivery"},
	SchemeSentry:  {header: "Sentry-Hook-Signature", encoding: EncodingHex, id: "Request-ID"},
}

// body returns the scheme of the body, if the verifier has one.
func (v Verifier) body() (bodyScheme, bool) {
	if v.Scheme == SchemeBody {
		return bodyScheme{header: v.Header, prefix: v.Prefix, encoding: v.Encoding}, true
	}
	s, ok := bodySchemes[v.Scheme]
	return s, ok
}

func (v Verifier) verifyBody(s bodyScheme, header http.Header, body []byte) (Delivery, error) {
	sent, err := one(header, s.header)
	if err != nil {
		return Delivery{}, err
	}
	text, ok := strings.CutPrefix(sent, s.prefix)
	mac, form := []byte(nil), "HEX"
	if s.encoding == EncodingBase64 {
		form = "BASE64"
		mac, err = base64.StdEncoding.DecodeString(text)
	} else {
		mac, err = hex.DecodeString(text)
	}
	if !ok || err != nil {
		return Delivery{}, malformed(s.header, s.prefix+form)
	}
	want := sum(v.Secret, "", body)
	if !hmac.Equal(mac, want) {
		return Delivery{}, forged(s.header)
	}
	if s.id == "" || len(header.Values(s.id)) == 0 {
		return sealed(want, time.Time{}, ""), nil
	}
	id, err := idOf(header, s.id)
	if err != nil {
		return Delivery{}, err
	}
	return sealed(want, time.Time{}, id), nil
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
