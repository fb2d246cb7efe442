// Package sentinel parses the sentinels at the edges of a model's reply, by
// which it asks for silence or for a notification:
//
//	NO_REPLY                   the whole reply: no message is sent
//	HEARTBEAT_OK, ROUTINE_OK   nothing to report, with an optional short remark
//	[NOTIFY] text              the text is sent as a notification
//
// A sentinel is case-sensitive. Decoration that models put around words is ignored:
// Markdown, HTML, quotes, punctuation, and a backslash before "_", "[" and "]".
// A sentinel counts only at the edges of a reply, and never as part of a longer
// word. At the end of a reply it must be separated from the sentence before it:
// "I cannot say HEARTBEAT_OK" is an ordinary reply.
package sentinel

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Reply is the parse result of a reply.
type Reply struct {
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

// MaySilence reports whether a reply with this beginning may turn out Silent:
// streaming surfaces hold such a beginning back. It is false for beginnings
// longer than maxUnsaid.
func MaySilence(beginning string) bool {
	first, _ := utf8.DecodeRuneInString(beginning)
	if len(beginning) > maxUnsaid || first != 'N' && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		return false
	}
	return unsaid().MatchString(beginning)
}

// Read parses the sentinels at the edges of a reply. The result is silent if the
// rest is empty or NO_REPLY, or if the reply is OK and at most ackMax
// characters remain; the text after [NOTIFY] is always sent, however short.
func Read(reply string, ackMax int) Reply {
	c := Reply{Text: trim(reply)}
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
func (c *Reply) cut() bool {
	rest, ok := cutOK(c.Text)
	notify := false
	if !ok {
		rest, notify = cutNotify(rest)
	}
	c.Text, c.OK, c.Notify = rest, c.OK || ok, c.Notify || notify
	return ok || notify
}

// Repeats reports whether a text equals an earlier one, ignoring white space,
// that was sent less than the given window ago. A negative age, after a clock
// was set back, counts by its absolute value. An empty earlier text is never
// repeated.
func Repeats(text, before string, age, within time.Duration) bool {
	was := strings.Fields(before)
	return len(was) > 0 && age.Abs() < within && strings.Join(strings.Fields(text), " ") == strings.Join(was, " ")
}
