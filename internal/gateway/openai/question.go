package openai

import (
	"context"
	"fmt"
	"strings"

	"chela"
)

// question is what an answer says when its turn waits for a person.
func question(a chela.Approval) string {
	words := "yes, always or no"
	if a.Floor {
		words = "yes or no"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The tool %s waits for your approval:\n\n", a.Tool)
	for line := range strings.Lines(a.Preview) {
		b.WriteString("    " + line)
	}
	if a.Reason != "" {
		fmt.Fprintf(&b, "\n\nReason: %s", a.Reason)
	}
	fmt.Fprintf(&b, "\n\nAnswer %s in session %s, run chela approvals yes %s (or no), or send the answer to POST /api/approvals/%[3]s.",
		words, a.Session, a.ID)
	return b.String()
}

// asked returns the approval that a text ends with the question of. A client
// without a session shows what the assistant said before to say what is
// answered: the id alone is no proof that a person has read the question.
func (a *API) asked(ctx context.Context, text string) (chela.Approval, bool, error) {
	_, id, ok := strings.Cut(text[max(0, strings.LastIndex(text, "/api/approvals/")):], "/api/approvals/")
	id, ends := strings.CutSuffix(id, ".")
	if !ok || !ends {
		return chela.Approval{}, false, nil
	}
	approval, err := a.cfg.Approval(ctx, chela.ApprovalID(id))
	if chela.KindOf(err) == chela.NotFound {
		return approval, false, nil
	}
	return approval, err == nil && strings.HasSuffix(text, question(approval)), err
}
