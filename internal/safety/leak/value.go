package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"unicode/utf16"
)

// MinValue is the length from which an exact value is searched for, in bytes.
// Shorter ones would be found in ordinary text.
const MinValue = 8

// prefix is the number of bytes of an exact value that the automaton holds; the
// rest is compared where they occur.
const prefix = 12

// A Value is a secret that is known exactly.
type Value struct{ Name, Text string }

// encodings returns the forms in which a value usually travels: as it is, as
// part of base64 at each of the three alignments, in hexadecimal digits, and
// escaped for URLs, JSON, HTML and shells. Of UTF-16, which PowerShell encodes,
// the base64 forms are included.
func encodings(text string) []string {
	quoted, _ := json.Marshal(text) // a string has no error
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // the same
	forms := []string{
		text,
		strings.Trim(string(quoted), `"`),
		strings.Trim(plain.String(), "\"\n"),
		url.QueryEscape(text), url.PathEscape(text),
		html.EscapeString(text),
		strings.ReplaceAll(text, "'", `'\''`),
		hex.EncodeToString([]byte(text)),
	}
	wide := make([]byte, 0, 2*len(text))
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for _, raw := range [][]byte{[]byte(text), wide} {
		for before := range 3 {
			forms = append(forms, within64(base64.RawStdEncoding, raw, before), within64(base64.RawURLEncoding, raw, before))
		}
	}
	return forms
}

// within64 returns the characters of a base64 text that raw alone decides, if a
// number of other bytes, modulo 3, comes before it.
func within64(enc *base64.Encoding, raw []byte, before int) string {
	text := enc.EncodeToString(append(make([]byte, before), raw...))
	return text[(before*8+5)/6 : (before+len(raw))*8/6]
}
