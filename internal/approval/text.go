package approval

import (
	"encoding/json"
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

// ParseJSON returns the answer that a message of text is, where a program wrote
// it as {"approval": "apr_…", "answer": "once"}, with "pattern" or "reason" where
// they apply, and whether it is one. It names the question that it answers.
func ParseJSON(text string) (Reply, bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return Reply{}, false
	}
	var said struct {
		Approval chela.ApprovalID `json:"approval"`
		Answer   chela.Answer     `json:"answer"`
		Pattern  string           `json:"pattern"`
		Reason   string           `json:"reason"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil || d.More() || said.Approval == "" || said.Answer == "" {
		return Reply{}, false
	}
	return Reply{ID: said.Approval, Answer: said.Answer, Pattern: said.Pattern, Comment: said.Reason}, true
}
