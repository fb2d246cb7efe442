package leak

import "strings"

// context is how much of the text that was already passed on a Stream keeps, in
// bytes, so that a keyword before a secret is still seen.
const context = 160

// held is the longest part at its end that a Stream holds back, in bytes. A token
// that is longer is passed on in pieces; formats have at most 16 KiB.
const held = 32 << 10

// A Stream redacts a text that arrives in pieces. It serves one goroutine.
type Stream struct {
	scanner *Scanner
	text    string // the end of the text so far
	passed  int    // how much of it was passed on
}

// Stream returns a Stream of the scanner's secrets.
func (s *Scanner) Stream() *Stream { return &Stream{scanner: s} }

// Write adds a piece and returns the redacted text that no secret can extend
// over any more.
func (s *Stream) Write(piece string) string {
	if s.scanner == nil {
		return piece
	}
	s.text += piece
	found, open := s.scanner.scan(s.text)
	cut := min(open, s.settled())
	for _, f := range found {
		if f.Start < cut && cut <= f.End {
			cut = f.Start
		}
	}
	return s.give(found, max(cut, s.passed, len(s.text)-held))
}

// Close returns the redacted rest.
func (s *Stream) Close() string {
	if s.scanner == nil {
		return ""
	}
	found := s.scanner.Find(s.text)
	return s.give(found, len(s.text))
}

// settled returns the offset of the last token, or of a private key that has
// begun and not ended.
func (s *Stream) settled() int {
	at := len(s.text)
	for at > 0 && inToken(s.text[at-1]) {
		at--
	}
	return min(at, openKey(s.text))
}

// openKey returns the offset of the first PEM block without an end, or the
// length of text.
func openKey(text string) int {
	at := 0
	for {
		begin := strings.Index(text[at:], "-----BEGIN")
		if begin < 0 {
			return len(text)
		}
		body := text[at+begin:]
		_, tail, ok := strings.Cut(body, "-----END")
		if !ok {
			return at + begin
		}
		_, rest, ok := strings.Cut(tail, "-----")
		if !ok {
			return at + begin
		}
		at = len(text) - len(rest)
	}
}

// give returns the text up to cut with marks in place of the findings.
func (s *Stream) give(found []Finding, cut int) string {
	var b strings.Builder
	at := s.passed
	for _, f := range found {
		if f.End <= at || f.Start >= cut {
			continue
		}
		if f.Start >= at {
			b.WriteString(s.text[at:f.Start])
			b.WriteString(f.Mark())
		}
		at = min(f.End, cut)
	}
	b.WriteString(s.text[at:cut])
	drop := max(0, cut-context)
	s.text, s.passed = s.text[drop:], cut-drop
	return b.String()
}
