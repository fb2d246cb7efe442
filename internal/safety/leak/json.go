package leak

import (
	"encoding/json"
	"strings"
)

// RedactJSON returns a JSON text with a mark in place of each credential in its
// strings. Everything else keeps its bytes, and the result is valid JSON if raw is;
// any other text is redacted as it stands. The key of a member is the context of its
// value, as in {"password":"…"}.
func (s *Scanner) RedactJSON(raw string) string {
	flat, parts := raw, []part(nil)
	escaped := strings.IndexByte(raw, '\\') >= 0
	if escaped {
		flat, parts = flatten(raw)
	}
	found := s.Find(flat)
	switch {
	case len(found) == 0:
		return raw
	case !json.Valid([]byte(raw)):
		return s.Redact(raw)
	case !escaped:
		flat, parts = flatten(raw)
	}
	var b strings.Builder
	at := 0
	for _, p := range parts {
		inside := p.cut(found)
		if inside == nil {
			continue
		}
		b.WriteString(raw[at:p.from])
		b.WriteString(quoted(marked(flat[p.start:p.end], inside)))
		at = p.to
	}
	b.WriteString(raw[at:])
	return b.String()
}

// A part is the content of a JSON string: raw[from:to] is flat[start:end] escaped.
type part struct{ from, to, start, end int }

// flatten returns a JSON text with the content of its strings unescaped, and where
// each string went. Quotes within strings are kept, so flat is no JSON.
func flatten(raw string) (flat string, parts []part) {
	var b strings.Builder
	b.Grow(len(raw))
	at := 0
	for at < len(raw) {
		open := strings.IndexByte(raw[at:], '"')
		if open < 0 {
			break
		}
		from := at + open + 1
		b.WriteString(raw[at:from])
		to := stringEnd(raw, from)
		p := part{from: from, to: to, start: b.Len()}
		var content string
		if err := json.Unmarshal([]byte(`"`+raw[from:to]+`"`), &content); err != nil {
			content = raw[from:to] // no valid JSON
		}
		b.WriteString(content)
		p.end = b.Len()
		parts = append(parts, p)
		at = to
		if at < len(raw) {
			b.WriteByte('"')
			at++
		}
	}
	b.WriteString(raw[min(at, len(raw)):])
	return b.String(), parts
}

// stringEnd returns the offset of the quote that ends the string which begins at an
// offset of a JSON text.
func stringEnd(raw string, at int) int {
	for ; at < len(raw); at++ {
		switch raw[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return len(raw)
}

// cut returns the parts of findings that are in p, with offsets from its start.
func (p part) cut(found []Finding) (inside []Finding) {
	for _, f := range found {
		f.Start, f.End = max(f.Start, p.start)-p.start, min(f.End, p.end)-p.start
		if f.Start < f.End {
			inside = append(inside, f)
		}
	}
	return inside
}

// quoted returns the content of text as a JSON string, without the quotes.
func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string has no error
	return strings.Trim(b.String(), "\n")[1 : b.Len()-2]
}
