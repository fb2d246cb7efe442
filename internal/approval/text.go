package approval

import (
	"strings"

	"chela"
)

// ParseText returns the answer that a message of text is, and whether it is
// one: "yes", "y", "approve" and "ok" grant the call, "always" and "a" grant the
// tool for the session, "no", "n" and "deny" refuse. Whether such a message
// answers anything depends on what is asked at the time; a longer text never
// does.
func ParseText(text string) (chela.Answer, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "yes", "y", "approve", "ok":
		return chela.AnswerOnce, true
	case "always", "a":
		return chela.AnswerSession, true
	case "no", "n", "deny":
		return chela.AnswerNo, true
	default:
		return "", false
	}
}
