package provider

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"

	"chela/internal/platform/lazyregexp"
)

// minSecret is the least length of a secret, in bytes; shorter values are words
// such as "true", which may occur in texts.
const minSecret = 8

// scrubbed replaces a secret.
const scrubbed = "[secret]"

// A Scrubber removes secrets from text. It is safe for concurrent use.
type Scrubber struct{ known *strings.Replacer }

// NewScrubber returns a scrubber for some secrets. Values shorter than 8 bytes
// are ignored.
func NewScrubber(secrets ...string) *Scrubber {
	var forms []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			forms = append(forms, formsOf(s)...)
		}
	}
	// A longer form may contain a shorter one.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range slices.Compact(forms) {
		if len(form) >= minSecret {
			pairs = append(pairs, form, scrubbed)
		}
	}
	return &Scrubber{known: strings.NewReplacer(pairs...)}
}

// formsOf returns the forms of a secret: as it is, encoded, and doubly encoded
// as part of an address or of JSON within a JSON string.
func formsOf(secret string) []string {
	forms := []string{secret, hex.EncodeToString([]byte(secret)), html.EscapeString(secret)}
	forms = append(forms, strings.ToUpper(forms[1]))
	for shift := range 3 {
		forms = append(forms, inBase64(secret, shift, base64.RawStdEncoding), inBase64(secret, shift, base64.RawURLEncoding))
	}
	for _, form := range slices.Clone(forms) {
		forms = append(forms, url.QueryEscape(form), url.PathEscape(form))
	}
	for range 3 {
		for _, form := range slices.Clone(forms) {
			for _, text := range []string{inJSON(form, true), inJSON(form, false)} {
				forms = append(forms, text, strings.ReplaceAll(text, "/", `\/`))
			}
		}
		slices.Sort(forms)
		forms = slices.Compact(forms)
	}
	return forms
}

// inBase64 returns the characters of an encoded text that do not depend on the
// surroundings of the secret, which begins shift bytes after a multiple of
// three.
func inBase64(secret string, shift int, enc *base64.Encoding) string {
	text := enc.EncodeToString(append(make([]byte, shift), secret...))
	whole := (shift + len(secret)) * 8 / 6 // characters all of whose bits are known
	return text[(shift*8+5)/6 : whole]
}

// inJSON returns text as it stands inside a JSON string, with or without HTML
// escapes.
func inJSON(text string, forHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(forHTML)
	_ = enc.Encode(text) // text always encodes
	line := strings.TrimSuffix(b.String(), "\n")
	return line[1 : len(line)-1]
}

// keys matches API keys by the prefixes of their vendors. Commit hashes, ids
// and ordinary words do not match.
var keys = lazyregexp.New(strings.Join([]string{
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
	`\bsk-(?:ant-|proj-|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}`, // OpenAI, Anthropic, OpenRouter, DeepSeek
	`\bAIza[0-9A-Za-z_-]{35}`, // Google
	`\b(?:gsk_|xai-|hf_|r8_|tgp_v1_|pplx-|fw_|nvapi-)[A-Za-z0-9_-]{20,}`, // Groq, xAI, Hugging Face, Replicate, Together, Perplexity, Fireworks, NVIDIA
	`\b(?:AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{16,}`,                            // AWS, Bedrock
	`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})`,
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                                   // Slack
	`\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b`,                                  // Telegram
	`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`, // JSON web tokens
	`\bchela_[a-z2-7]{52}`,
	`\bAGE-SECRET-KEY-1[0-9A-Z]{58}`,
	`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`,
}, "|"))

// Text returns text without secrets.
func (s *Scrubber) Text(text string) string {
	return keys().ReplaceAllString(s.known.Replace(text), scrubbed)
}

// value returns a decoded JSON value without secrets, at any depth.
func (s *Scrubber) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
	case json.Number:
		if text := s.known.Replace(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, member := range v {
			clean[s.Text(name)] = s.value(member)
		}
		return clean
	}
	return v
}

// scrubbedValue returns v without secrets and with its JSON values normalized, so
// that equal values are written equally. T must have a JSON form.
func scrubbedValue[T any](s *Scrubber, v T) (T, error) {
	var clean T
	raw, err := json.Marshal(v)
	if err != nil {
		return clean, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var whole any
	if err := dec.Decode(&whole); err != nil {
		return clean, err
	}
	if raw, err = json.Marshal(s.value(whole)); err != nil {
		return clean, err
	}
	err = json.Unmarshal(raw, &clean)
	return clean, err
}
