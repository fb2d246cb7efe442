package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"chela/internal/platform/lazyregexp"
	"chela/internal/safety/guard"
)

// previewHTTP shows everything that a request sends. Values whose header,
// parameter or field name marks them as secret are replaced by their length.
// Each line of the body is marked, so that none looks like a header.
func previewHTTP(in httpInput, u *url.URL) string {
	var b strings.Builder
	b.WriteString(in.method() + " " + maskForm(in.URL))
	if u != nil {
		if at := maskForm(u.String()); at != maskForm(in.URL) {
			b.WriteString("\nwhich is " + at)
		}
		if name, err := guard.UnicodeHost(u.Hostname()); err == nil && name != u.Hostname() {
			fmt.Fprintf(&b, "\nhost: %s, which is %s", u.Hostname(), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		value := in.Headers[name]
		if secretHeader(name) {
			value = masked(value)
		}
		b.WriteString("\n" + oneLine(name) + ": " + oneLine(value))
	}
	if s := in.Secret; s != nil {
		fmt.Fprintf(&b, "\nwith the secret %s as %s %s", oneLine(s.Name), oneLine(cmp.Or(s.As, asBearer)), oneLine(s.Field))
	}
	if in.Timeout != 0 {
		fmt.Fprintf(&b, "\n[for at most %d seconds]", in.Timeout)
	}
	if in.SaveTo != "" {
		b.WriteString("\nthe answer goes to " + oneLine(in.SaveTo))
	}
	if in.Body != "" {
		fmt.Fprintf(&b, "\nbody, %d bytes:\n| %s", len(in.Body), strings.ReplaceAll(maskBody(in), "\n", "\n| "))
	}
	return b.String()
}

// oneLine keeps a value from adding lines of its own.
func oneLine(text string) string {
	return strings.ReplaceAll(text, "\n", "\n  ")
}

// secretNames are parts of the names of headers, parameters and fields that hold
// credentials, without separators.
var secretNames = strings.Fields(`
	authorization cookie token secret password passwd passphrase signature credential apikey accesskey authkey privatekey
	signingkey subscriptionkey accountkey masterkey functionskey
`)

var separators = strings.NewReplacer("-", "", "_", "", ".", "")

func secretName(name string) bool {
	name = separators.Replace(strings.ToLower(name))
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// secretHeader reports whether a header holds a credential. A field of a body that
// is called "key" rarely does, a header like X-Goog-Key does.
func secretHeader(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return secretName(name) || slices.ContainsFunc(words, func(word string) bool { return word == "key" || word == "auth" || word == "pass" })
}

func masked(value string) string { return fmt.Sprintf("[secret, %d bytes]", len(value)) }

var parameter = lazyregexp.New(`([?&]|^)([^=&?#]+)=([^&#]+)`)

// maskForm masks the parameters of a URL or of a form.
func maskForm(text string) string { return maskParameters(text, masked) }

// maskQuery masks the parameters of a query, which stays one and is masked to itself.
func maskQuery(query string) string {
	return maskParameters(query, func(value string) string {
		if maskedValue().MatchString(value) {
			return value
		}
		return fmt.Sprintf("(secret:%d)", len(value))
	})
}

var maskedValue = lazyregexp.New(`^\(secret:\d+\)$`)

// maskParameters replaces the values of secret parameters.
func maskParameters(text string, mask func(value string) string) string {
	return parameter().ReplaceAllStringFunc(text, func(found string) string {
		p := parameter().FindStringSubmatch(found)
		name, err := url.QueryUnescape(p[2])
		if err != nil {
			name = p[2]
		}
		if !secretName(name) {
			return found
		}
		return p[1] + p[2] + "=" + mask(p[3])
	})
}

// maskBody masks the fields of a JSON body or of a form. Anything else stays as
// it is, and so does all of JSON except the values.
func maskBody(in httpInput) string {
	kind := ""
	for name, value := range in.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			kind = strings.ToLower(value)
		}
	}
	switch {
	case json.Valid([]byte(in.Body)):
		return maskJSON(in.Body)
	case strings.Contains(kind, "form-urlencoded"):
		return maskForm(in.Body)
	default:
		return in.Body
	}
}

// maskJSON masks the values of valid JSON whose key is secret, including lists
// and objects. It keeps all other bytes as they are.
func maskJSON(text string) string {
	m := jsonMask{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	m.value()
	return m.b.String() + text[m.copied:]
}

// A jsonMask reads valid JSON and writes it with masks.
type jsonMask struct {
	text   string
	dec    *json.Decoder
	b      strings.Builder
	copied int64 // bytes of text already copied to b, masked or not
}

// value reads the next value.
func (m *jsonMask) value() {
	token, err := m.dec.Token()
	open, ok := token.(json.Delim)
	if err != nil || !ok {
		return
	}
	for m.dec.More() {
		if open == '{' && m.secretField() {
			continue
		}
		m.value()
	}
	_, _ = m.dec.Token() // the end of the list or object; the text is valid
}

// secretField reads the next key of an object. If the key is secret it reads
// the value too and reports true.
func (m *jsonMask) secretField() bool {
	key, _ := m.dec.Token()
	if name, ok := key.(string); !ok || !secretName(name) {
		return false
	}
	var value json.RawMessage
	if err := m.dec.Decode(&value); err != nil || slices.Contains([]string{"null", "true", "false"}, string(value)) {
		return true
	}
	end := m.dec.InputOffset()
	m.b.WriteString(m.text[m.copied:end-int64(len(value))] + masked(strings.Trim(string(value), `"`)))
	m.copied = end
	return true
}

// scripts are the scripts told apart from Latin, with the letters that look
// like Latin ones.
var scripts = map[string]*unicode.RangeTable{
	"Latin": unicode.Latin, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee,
	"Hebrew": unicode.Hebrew, "Arabic": unicode.Arabic, "Georgian": unicode.Georgian, "Thai": unicode.Thai,
}

// mixedScripts returns why a host always needs approval: a label of it mixes
// scripts, as homograph names do.
func mixedScripts(u *url.URL) string {
	name, err := guard.UnicodeHost(u.Hostname())
	if err != nil {
		return ""
	}
	for label := range strings.SplitSeq(name, ".") {
		var found []string
		for script, letters := range scripts {
			if strings.ContainsFunc(label, func(r rune) bool { return unicode.Is(letters, r) }) {
				found = append(found, script)
			}
		}
		if slices.Sort(found); len(found) > 1 {
			return fmt.Sprintf("the host %s mixes letters of %s, as look-alike names do", u.Hostname(), strings.Join(found, " and "))
		}
	}
	return ""
}
