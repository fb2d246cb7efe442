package safety_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/platform/fail"
	"chela/internal/safety"
)

func TestProvenanceOfMessages(t *testing.T) {
	t.Parallel()
	owner := chela.Origin{Channel: "terminal", Owner: true}
	for name, c := range map[string]struct {
		in   chela.Inbound
		want string // the source; empty for the owner's own
	}{
		"owner":      {chela.Inbound{Session: "agent:main:main", Origin: owner}, ""},
		"guest":      {chela.Inbound{Session: "agent:main:telegram:dm:7", Origin: chela.Origin{Channel: "telegram", Sender: "7"}}, "a message of 7 on telegram"},
		"no sender":  {chela.Inbound{Session: "agent:main:main"}, "a message of a guest on no channel"},
		"group":      {chela.Inbound{Session: "agent:main:slack:group:7", Origin: chela.Origin{Channel: "slack", Sender: "U1", Owner: true}}, "a message of U1 on slack"},
		"attachment": {chela.Inbound{Session: "agent:main:main", Origin: owner, Attachments: []chela.Attachment{{Name: "a\x1b[2J.pdf"}}}, "the attachment a[2J.pdf"},
		"page":       {chela.Inbound{Session: "agent:main:main", Origin: chela.Origin{Channel: "http", Owner: true, Sender: "phone"}}, ""},
		"history":    {chela.Inbound{Session: "agent:main:main", Origin: owner, History: []chela.Message{{Text: "x"}}}, "an imported conversation"},
		"carried": {chela.Inbound{Session: "agent:main:job:1", Origin: chela.Origin{
			Channel: chela.ChannelJob, Owner: true, Provenance: safety.Outside("https://x.example"),
		}}, "https://x.example"},
	} {
		got := safety.ProvenanceOfMessage(c.in)
		if got.Source != c.want || got.BelowFolder() != (c.want != "") {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	if p := (chela.Provenance{Integrity: "new"}); !p.BelowFolder() {
		t.Error("an integrity that is not known is not from outside")
	}
}

// TestProvenanceSurvivesCompaction: the entries that a compaction removes from a
// prompt count in its provenance, wherever the cut is, folded at once or in parts.
func TestProvenanceSurvivesCompaction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var path []chela.Entry
		for i := range rapid.IntRange(1, 12).Draw(t, "entries") {
			e := chela.Entry{ID: chela.EntryID(string(rune('a' + i))), Body: chela.ResultBody{}}
			if rapid.Bool().Draw(t, "outside") {
				e.Body = chela.ResultBody{Provenance: safety.Outside(string(e.ID))}
			}
			path = append(path, e)
		}
		whole := safety.ProvenanceOfEntries(path)
		cut := rapid.IntRange(0, len(path)).Draw(t, "cut")
		compaction := chela.Entry{ID: "sum", Body: chela.CompactionBody{Provenance: whole}}
		kept := append(slices.Clone(path[cut:]), compaction)
		if diff := cmp.Diff(whole, safety.ProvenanceOfEntries(kept)); diff != "" {
			t.Errorf("after a compaction (-want +got):\n%s", diff)
		}
		p := safety.ProvenanceOfEntries(path[:cut])
		for _, e := range path[cut:] {
			p = safety.ProvenanceAfter(p, e)
		}
		if p != whole {
			t.Errorf("in parts %+v, at once %+v", p, whole)
		}
	})
}

// TestLabelKeeps: an ordinary build drops no label, whatever the environment says.
func TestLabelKeeps(t *testing.T) {
	if fail.Enabled {
		t.Skip("a build with failpoints drops labels")
	}
	t.Setenv("CHELA_FAILPOINTS_MUTANTS", "label a")
	if p := (chela.Provenance{Source: "page"}); safety.Label("a", p) != p {
		t.Error("a label was dropped")
	}
}
