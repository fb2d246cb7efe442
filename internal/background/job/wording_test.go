package job_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"chela"
	"chela/internal/background/job"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("x", 40): strings.Repeat("x", 40), strings.Repeat("x", 41): strings.Repeat("x", 29) + "\n[cut here]",
		strings.Repeat("é", 21): strings.Repeat("é", 14) + "\n[cut here]",
	} {
		if got := job.CutText(text, 40); got != want || !utf8.ValidString(got) {
			t.Errorf("cut %q to %q, want %q", text, got, want)
		}
	}
}

// However many parts there are and however much they say, their job hears of each.
func TestPartsFit(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 20, 100} {
		parts := make([]chela.Job, n)
		for i := range parts {
			parts[i] = chela.Job{
				Title: strings.Repeat("t", 60), State: chela.JobFailed, Reason: strings.Repeat("r", 5000), Result: strings.Repeat("漢", 30_000),
				Session: "agent:main:job:job_0123456789abcdefghij",
			}
		}
		text := job.PartsText(parts)
		if len(text) > chela.MaxMessageBytes || strings.Count(text, "## Part ") != n {
			t.Errorf("%d parts: %d bytes with %d of them", n, len(text), strings.Count(text, "## Part "))
		}
	}
}

// TestWholeAnswersAreNamed: the report of a part says where its whole answer is only
// if it was cut.
func TestWholeAnswersAreNamed(t *testing.T) {
	t.Parallel()
	for result, cut := range map[string]bool{"42": false, strings.Repeat("x", chela.MaxMessageBytes): true} {
		text := job.PartsText([]chela.Job{{State: chela.JobCompleted, Result: result, Session: "agent:main:job:job_1"}})
		if got := strings.Contains(text, "whole answer is in the session agent:main:job:job_1"); got != cut {
			t.Errorf("an answer of %d bytes: named %t, want %t", len(result), got, cut)
		}
	}
}
