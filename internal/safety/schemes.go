package safety

import (
	"cmp"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"chela"
)

// Header names of the schemes.
const (
	headerSecret        = "X-Chela-Secret"
	headerDelivery      = "X-Chela-Delivery"
	headerSignature     = "X-Chela-Signature"
	headerTimestamp     = "X-Chela-Timestamp"
	headerAuthorization = "Authorization"
	headerStripe        = "Stripe-Signature"
)

// maxIDBytes bounds a sender's delivery id.
const maxIDBytes = 200

func (v Verifier) verifySecret(header http.Header) (Delivery, error) {
	sent, err := secretOf(header)
	if err != nil {
		return Delivery{}, err
	}
	if !same([]byte(sent), v.Secret) {
		return Delivery{}, chela.E(chela.Denied, "the secret of the request does not match")
	}
	if len(header.Values(headerDelivery)) == 0 {
		return Delivery{}, nil
	}
	id, err := idOf(header, headerDelivery)
	return Delivery{Key: id}, err
}

func secretOf(header http.Header) (string, error) {
	if len(header.Values(headerSecret)) > 0 || len(header.Values(headerAuthorization)) == 0 {
		return one(header, headerSecret)
	}
	sent, err := one(header, headerAuthorization)
	if err != nil {
		return "", err
	}
	scheme, secret, _ := strings.Cut(sent, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return "", chela.E(chela.Denied, "the Authorization header has no bearer secret").WithHint("send Authorization: Bearer SECRET, or " + headerSecret)
	}
	return secret, nil
}

func (v Verifier) verifyStripe(header http.Header, body []byte, now time.Time) (Delivery, error) {
	sent, err := one(header, headerStripe)
	if err != nil {
		return Delivery{}, err
	}
	stamp, macs, err := parseStripe(sent)
	if err != nil {
		return Delivery{}, err
	}
	at, err := parseTime(headerStripe, stamp)
	if err != nil {
		return Delivery{}, err
	}
	// During a rotation of the secret there is one signature for the old and
	// one for the new secret.
	want, found := sum(v.Secret, stamp+".", body), false
	for _, mac := range macs {
		found = hmac.Equal(mac, want) || found
	}
	if !found {
		return Delivery{}, forged(headerStripe)
	}
	// A retried delivery has a new signature and the same event id.
	return v.timely(sealed(want, at, idIn(body, "id")), now)
}

// parseStripe returns the timestamp and the version 1 signatures, at least one.
// Signatures of other versions are ignored.
func parseStripe(sent string) (stamp string, macs [][]byte, err error) {
	bad := malformed(headerStripe, "t=TIMESTAMP,v1=HEX")
	for part := range strings.SplitSeq(sent, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case key == "t" && stamp == "" && value != "":
			stamp = value
		case key == "t":
			return "", nil, bad
		case key == "v1":
			mac, err := hex.DecodeString(value)
			if err != nil {
				return "", nil, bad
			}
			macs = append(macs, mac)
		}
	}
	if stamp == "" || len(macs) == 0 {
		return "", nil, bad
	}
	return stamp, macs, nil
}

// sealed returns a delivery keyed by id, or else by its signature.
func sealed(mac []byte, at time.Time, id string) Delivery {
	seal := hex.EncodeToString(mac)
	return Delivery{Key: cmp.Or(id, seal), Seal: seal, At: at}
}

// idIn returns the id in a field of a signed body, or "" if there is none, as
// in a body that is not JSON.
func idIn(body []byte, field string) string {
	var fields map[string]json.RawMessage
	var id string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields[field], &id) != nil || !plain(id) {
		return ""
	}
	return id
}

func idOf(header http.Header, name string) (string, error) {
	id, err := one(header, name)
	if err != nil {
		return "", err
	}
	if !plain(id) {
		return "", chela.Ef(chela.Denied, "the header %s is not a valid id", name).
			WithHint(fmt.Sprintf("send up to %d letters, digits and marks without spaces", maxIDBytes))
	}
	return id, nil
}

// plain reports whether an id is short and consists of visible ASCII
// characters.
func plain(id string) bool {
	hidden := func(r rune) bool { return r <= ' ' || r > '~' }
	return id != "" && len(id) <= maxIDBytes && !strings.ContainsFunc(id, hidden)
}

// one returns the single value of a header.
func one(header http.Header, name string) (string, error) {
	switch sent := header.Values(name); {
	case len(sent) > 1:
		return "", chela.Ef(chela.Denied, "the header %s is repeated %d times", name, len(sent)).WithHint("send " + name + " once")
	case len(sent) == 0 || strings.TrimSpace(sent[0]) == "":
		return "", chela.E(chela.Denied, "the request has no header "+name).WithHint("send the header " + name)
	default:
		return strings.TrimSpace(sent[0]), nil
	}
}

// timeOf returns the timestamp of a header, as text and as a time.
func timeOf(header http.Header, name string) (stamp string, at time.Time, err error) {
	if stamp, err = one(header, name); err != nil {
		return "", time.Time{}, err
	}
	at, err = parseTime(name, stamp)
	return stamp, at, err
}

// maxStampDigits is enough for 30,000 years.
const maxStampDigits = 12

func parseTime(name, stamp string) (time.Time, error) {
	seconds, err := strconv.ParseUint(stamp, 10, 63)
	if err != nil || len(stamp) > maxStampDigits {
		return time.Time{}, chela.Ef(chela.Denied, "the header %s is not a timestamp", name).WithHint("send the seconds since 1970, as printed by date +%s")
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

func forged(name string) error {
	return chela.Ef(chela.Denied, "the signature in %s does not match this body and secret", name).
		WithHint("sign the raw bytes of the body with the secret of this webhook")
}

func malformed(name, form string) error {
	return chela.Ef(chela.Denied, "the header %s has no signature of the right form", name).WithHint("send " + name + ": " + form)
}
