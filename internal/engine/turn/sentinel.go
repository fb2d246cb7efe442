package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A ParsedReply is a reply without the sentinels at its edges.
type ParsedReply struct {
	Silent bool   // no message is sent
	OK     bool   // HEARTBEAT_OK or ROUTINE_OK
	Notify bool   // [NOTIFY]
	Text   string // the reply without sentinels and surrounding space
}

// Silent reports whether a reply is NO_REPLY and nothing else. An empty reply
// is not.
func Silent(reply string) bool {
	return strings.Contains(reply, "REPLY") && silent().MatchString(reply)
}

// maxUnsaid is the maximum length in bytes of a beginning that is held back.
const maxUnsaid = 80

// maySilence reports whether a reply with this beginning may turn out Silent:
// streaming surfaces hold such a beginning back. It is false for beginnings
// longer than maxUnsaid.
func maySilence(beginning string) bool {
	first, _ := utf8.DecodeRuneInString(beginning)
	if len(beginning) > maxUnsaid || first != 'N' && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		return false
	}
	return unsaid().MatchString(beginning)
}

// ParseReply parses the sentinels at the edges of a reply. The result is silent if the
// rest is empty or NO_REPLY, or if the reply is OK and at most ackMax
// characters remain; the text after [NOTIFY] is always sent, however short.
func ParseReply(reply string, ackMax int) ParsedReply {
	c := ParsedReply{Text: trim(reply)}
	for range maxSentinels {
		if !c.cut() {
			break
		}
	}
	if Silent(c.Text) || c.OK && !c.Notify && nothing().MatchString(c.Text) {
		c.Text = ""
	}
	c.Silent = c.Text == "" || c.OK && !c.Notify && utf8.RuneCountInString(c.Text) <= ackMax
	return c
}

// maxSentinels bounds the work for a reply consisting of sentinels only.
const maxSentinels = 10

// cut removes one sentinel from an edge of the text.
func (c *ParsedReply) cut() bool {
	rest, ok := cutOK(c.Text)
	notify := false
	if !ok {
		rest, notify = cutNotify(rest)
	}
	c.Text, c.OK, c.Notify = rest, c.OK || ok, c.Notify || notify
	return ok || notify
}
