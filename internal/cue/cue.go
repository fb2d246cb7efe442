// Package cue understands the words by which a model says that there is
// nothing to say, or something to tell, at the edges of a reply:
//
//	NO_REPLY                   the whole reply: nobody is answered
//	HEARTBEAT_OK, ROUTINE_OK   nothing to report, and perhaps a few words more
//	[NOTIFY] text              text is to be told
//
// A cue is written exactly so, but for what models put around words: Markdown,
// HTML, quotes, punctuation, and a backslash before "_", "[" and "]". It counts
// at the edges of a reply alone, and never as a part of a longer word. At the
// end of a reply it must stand apart from the sentence before it: "I cannot say
// HEARTBEAT_OK" is something to tell.
package cue

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Cue is what a reply says of itself.
type Cue struct {
	Silent bool   // nothing is to be told
	OK     bool   // HEARTBEAT_OK or ROUTINE_OK
	Notify bool   // [NOTIFY]
	Text   string // what is left without these words: a part of the reply, without the space around it
}

// Silent reports whether a reply is NO_REPLY and nothing else. An empty reply
// is not.
func Silent(reply string) bool {
	return strings.Contains(reply, "REPLY") && silent().MatchString(reply)
}

// maxUnsaid is how long the beginning of a reply may be, in bytes, to be held back.
const maxUnsaid = 80

// MaySilence reports whether a reply that begins so may be Silent once it is whole:
// who shows replies while they come keeps such a beginning back. No long one may.
func MaySilence(beginning string) bool {
	first, _ := utf8.DecodeRuneInString(beginning)
	if len(beginning) > maxUnsaid || first != 'N' && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		return false
	}
	return unsaid().MatchString(beginning)
}

// Read reads the cues at the edges of a reply. It is silent if nothing is left
// of it, if that is NO_REPLY, or if it is OK and at most ackMax characters are
// left; but what follows [NOTIFY] is told, however short it is.
func Read(reply string, ackMax int) Cue {
	c := Cue{Text: trim(reply)}
	for range maxCues {
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

// maxCues bounds the work that a reply of nothing but cues makes.
const maxCues = 10

// cut takes one cue off an edge of the text.
func (c *Cue) cut() bool {
	if rest, found := cutOK(c.Text); found {
		c.Text, c.OK = rest, true
		return true
	}
	if rest, found := cutNotify(c.Text); found {
		c.Text, c.Notify = rest, true
		return true
	}
	return false
}

// Repeats reports whether a text says the same as one that was told an age
// ago, but for white space, within the time in which that is not told again. A
// clock that was set back makes an age negative; it counts the same. Where
// nothing was told before, nothing repeats it.
func Repeats(text, before string, age, within time.Duration) bool {
	was := strings.Fields(before)
	return len(was) > 0 && age.Abs() < within && strings.Join(strings.Fields(text), " ") == strings.Join(was, " ")
}
