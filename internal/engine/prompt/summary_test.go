package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/prompt"
)

const (
	monday  = "context/archive/2026-11-23.md"
	tuesday = "context/archive/2026-11-24.md"
)

// told returns a conversation that begins with a summary.
func told(summary, sketch string) prompt.Conversation {
	entries := talk("u1 " + sketch)
	entries[0] = chela.Entry{ID: "e1", Body: chela.CompactionBody{Text: summary, FirstKept: "e1"}}
	return fold(entries)
}

func TestSummary(t *testing.T) {
	t.Parallel()
	archive := prompt.Plan{Strategy: chela.StrategyArchive, Kept: 3}
	for _, c := range []struct {
		name, earlier string
		plan          prompt.Plan
		documents     []string
		want          string
	}{
		{"first", "", archive, []string{monday}, "Archived in " + monday + "\n- text 2"},
		{"same day", "Archived in " + monday + "\n- before", archive, []string{monday}, "Archived in " + monday + "\n- before\n- text 2"},
		{
			"next day", "Archived in " + monday + "\n- before", archive,
			[]string{tuesday},
			"Archived in " + monday + "\n- before\n\nArchived in " + tuesday + "\n- text 2",
		},
		{
			"two documents", "A fact.", archive,
			[]string{monday, tuesday},
			"A fact.\n\nArchived in " + monday + "\n\nArchived in " + tuesday + "\n- text 2",
		},
		{
			"truncate", "A fact.",
			prompt.Plan{Strategy: chela.StrategyTruncate, Kept: 3},
			[]string{monday},
			"A fact.\n\nArchived in " + monday,
		},
	} {
		if diff := cmp.Diff(c.want, c.plan.Summary(told(c.earlier, "u1 a1 | u1 a1"), c.documents, room)); diff != "" {
			t.Errorf("%s: summary (-want +got):\n%s", c.name, diff)
		}
	}
}

// What a model writes keeps the names of the documents that were there before.
func TestWrittenSummary(t *testing.T) {
	t.Parallel()
	c := told("Old facts.\nArchived in "+monday+"\n- before", "u1 a1")
	p := prompt.Plan{Strategy: chela.StrategySummarize, Kept: 3}
	want := "# Facts\n- new\n\nArchived in " + monday + "\nArchived in " + tuesday
	if diff := cmp.Diff(want, p.Written(c, " # Facts\n- new\n", []string{tuesday}, room)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// A summary never outgrows its room: the oldest topics go first, and the names
// of the documents last.
func TestSummaryIsBounded(t *testing.T) {
	t.Parallel()
	p := prompt.Plan{Strategy: chela.StrategyArchive, Kept: 3}
	text := "- A fact that a model has written.\n\nArchived in " + monday
	for i := range 200 {
		text = p.Summary(told(fmt.Sprintf("%s\n- topic %d", text, i), "u1 a1"), []string{monday}, room)
		if n := prompt.Count(text); n > room.SummaryRoom() {
			t.Fatalf("%d tokens:\n%s", n, text)
		}
	}
	if !strings.HasPrefix(text, "- A fact that a model has written.\n\nArchived in "+monday+"\n- …\n") || !strings.HasSuffix(text, "\n- topic 199\n- text 2") {
		t.Errorf("summary:\n%s", text)
	}
	p.Strategy = chela.StrategySummarize
	text = p.Written(told("Archived in "+monday, "u1 a1"), strings.Repeat("word ", 1000), []string{tuesday}, room)
	if n := prompt.Count(text); n > room.SummaryRoom() || !strings.HasSuffix(text, "\nArchived in "+monday+"\nArchived in "+tuesday) {
		t.Errorf("%d tokens:\n%s", n, text)
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	entries := talk("u1 n1 c1 r1 m1 C1 R1 A1 e1 a1 | u1 a1 | u1")
	entries[0].Body = chela.UserBody{Text: "\n What is in\nthe file? ", Attachments: []chela.Attachment{{Name: "a.png", MediaType: "image/png", Size: 5}}}
	entries[2].Answer().Calls[0].Args = []byte(`{"path":"` + strings.Repeat("x", 600) + `"}`)
	result := entries[3].Result()
	result.Text, result.Tool, result.Status = strings.Repeat("y", 3000), "look", chela.CallDone
	entries[3].Body = result
	got := fold(entries).Leaving(prompt.Plan{Kept: 12})
	want := []string{
		"### What is in\n\n**user:** \n What is in\nthe file? \n\n[a.png, image/png, 5 bytes]",
		"**note:** text 2",
		"**assistant:** text 3\n\n- calls look {\"path\":\"" + strings.Repeat("x", 491) + "…",
		"**look returned:** " + strings.Repeat("y", 2000) + "…",
		"**assistant:** text 10",
		"### text 11\n\n**user:** text 11",
		"**assistant:** text 12",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("leaving (-want +got):\n%s", diff)
	}
}

func TestSummaryRequest(t *testing.T) {
	t.Parallel()
	large := prompt.Budget{Room: 100_000}
	c := told("Old facts.", "u1 a1")
	p := prompt.Plan{Strategy: chela.StrategySummarize, Kept: 3}
	req := c.SummaryRequest(p, large, "keep the names")
	want := "Summarize the beginning of the conversation below. Pay attention to this wish of the user: keep the names\n\n" +
		"<earlier_summary>\nOld facts.\n</earlier_summary>\n\n<conversation>\n### text 2\n\n**user:** text 2\n\n**assistant:** text 3\n</conversation>"
	if diff := cmp.Diff(want, req.Messages[0].Text); diff != "" || req.System != prompt.Instructions || len(req.Tools) != 0 || req.MaxTokens != large.SummaryRoom() {
		t.Errorf("request %+v, text (-want +got):\n%s", req, diff)
	}
	entries := talk(times(50, 10))
	for i := range entries {
		entries[i].Body = said(entries[i].Kind(), entries[i].Text()+strings.Repeat(" word", 50))
	}
	long := fold(entries)
	p.Kept = 90
	text := long.SummaryRequest(p, room, "").Messages[0].Text
	if n := prompt.Count(prompt.Instructions) + prompt.Count(text); n > room.Room || n < room.Room*3/4 || !strings.Contains(text, "text 90") {
		t.Errorf("%d tokens of %d:\n%s", n, room.Room, text)
	}
}
