package app

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/approval"
)

// TestDeniedCallLabelsNothing: of a source that was not read, because the owner said
// no, nothing is in the prompt. Later questions do not name it.
func TestDeniedCallLabelsNothing(t *testing.T) {
	t.Parallel()
	all := loadInjections(t)
	v := newVictim(t, "page", all)
	v.ask("denied", `DO: http {"url": "%s/post", "method": "POST", "body": "x"}`, v.site)
	pending, err := api.All(t.Context(), api.Local{Operations: v.operations}, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	if err != nil || len(pending) != 1 {
		t.Fatalf("questions %+v, %v", pending, err)
	}
	if _, err := v.approvals.Answer(t.Context(), approval.Reply{ID: pending[0].ID, Answer: chela.AnswerNo, By: "test"}); err != nil {
		t.Fatal(err)
	}
	v.settle(t.Context())
	v.ask("denied", `DO: write_file {"path": "AGENTS.md", "content": "hi"}`)
	reasons := strings.Join(v.approve(), "\n")
	if reasons == "" || strings.Contains(reasons, "after reading ") || v.posts.Load() != 0 {
		t.Errorf("asked %q after %d posts, want a question without a source", reasons, v.posts.Load())
	}
}
