package script_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/script"
)

const noted = `
name: noted
turns:
  - {note: write it down, steps: [{text: n1}, {text: n2}]}
  - {steps: [{text: a1}, {text: a2}]}
`

func TestNotesThatAreAnswered(t *testing.T) {
	t.Parallel()
	down, on := note("write it down"), note("go on")
	for _, tt := range []struct {
		name     string
		messages []chela.Message
		want     string
	}{
		{"the note", []chela.Message{user("x"), down}, "n1"},
		{"its second step", []chela.Message{user("x"), down, assistant("n1"), result("1")}, "n2"},
		{"after it", []chela.Message{user("x"), down, assistant("n1"), on}, "a1"},
		{"between steps", []chela.Message{user("x"), assistant("a1"), result("1"), down, assistant("n1"), on}, "a2"},
		{"another note", []chela.Message{user("x"), assistant("a1"), result("1"), on}, "a2"},
		{"somebody speaks", []chela.Message{down, user("x")}, "a1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(t, setup(t, noted), tt.messages...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	p := setup(t, "past_end: echo\nwindow: 500\nrecord: "+path)
	if p.Window("any") != 500 {
		t.Errorf("window %d", p.Window("any"))
	}
	for _, said := range []string{"one", "two"} {
		text(t, p, user(said))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range bytes.Lines(raw) {
		var r script.RecordedRequest
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Messages[0].Text)
	}
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
