package offline_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

var update = flag.Bool("update", false, "write the golden files")

// results are results in the form of the tools, by the tool.
var results = map[string]string{
	"time":       "2026-11-22T00:14:05+09:00\nSunday, 22 November 2026, 00:14:05; zone Asia/Tokyo, JST; unix 1795274045; week 2026-W47; day 326 of the year",
	"calc":       "391",
	"echo":       "hello",
	"json":       "{\n  \"a\": 1\n}",
	"read_file":  "     1\tone\n     2\ttwo",
	"list_dir":   "/workspace:\na.txt (8 bytes)\nsrc/",
	"glob":       "src/a.go",
	"grep":       "[no line matches]",
	"shell":      "Linux\n",
	"http":       "!cannot reach example.com: connection refused",
	"write_file": "wrote /workspace/b.txt, 8 bytes",
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, text := range []string{
		"hi", "Thanks!", "bye", "how are you?", "who are you?", "what is the meaning of life?",
		"what time is it?", "What time is it in Tokyo and what is 17*23?", "convert 3pm Tokyo time to Berlin", "parse the date 5 May 2024",
		"how many days until 2030-01-01?",
		"echo hello", `parse {"a":1}`, "list the files", "read a.txt", "find all Go files", "grep TODO", "run uname", "fetch example.com",
		"read a.txt, then write it to b.txt", "fetch example.com, then list the files", "Hello, what is 17*23?",
	} {
		steps, answer := converse(t, request(user(text)), func(c chela.CallSpec) string {
			if strings.Contains(string(c.Args), `"diff"`) {
				return "2030-01-01T00:00:00Z is later than 2026-11-21T15:14:05Z by 1136 days, 08:45:55 (98181955 seconds)"
			}
			return results[c.Tool]
		})
		fmt.Fprintf(&b, "> %s\n", text)
		for _, s := range steps {
			fmt.Fprintf(&b, "calls %q\n", s)
		}
		fmt.Fprintf(&b, "%s\n\n", answer)
	}
	golden(t, "answers.txt", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); -update accepts it\n%s", path, diff)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, result, want string }{
		{"read a.txt", "!there is no file a.txt", "I could not read a.txt: there is no file a.txt."},
		{"read a.txt, then write it to b.txt", "!there is no file a.txt", "I could not read a.txt: there is no file a.txt. So I left the rest undone."},
		{"run rm -r src", "!denied: the owner said no: not today", "I was not allowed to run `rm -r src`, so I did not: the owner said no: not today."},
		{"run make", "!make: permission denied", "I could not run `make`: make: permission denied."},
		{
			"run make", "!chela was stopped while this call ran. It may or may not have happened.",
			"I cannot tell whether I did run `make`: chela was stopped while this call ran. It may or may not have happened.",
		},
		{"compute 1/0", "!division by zero at byte 2", "I could not compute 1/0: division by zero at byte 2."},
	} {
		_, answer := converse(t, request(user(tt.text)), func(chela.CallSpec) string { return tt.result })
		if diff := cmp.Diff(tt.want, answer); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.text, diff)
		}
	}
}

func TestLongResultsAreQuotedInPart(t *testing.T) {
	t.Parallel()
	long := "```\n" + strings.Repeat("ä", 3000)
	_, answer := converse(t, request(user("run ls")), func(chela.CallSpec) string { return long })
	if want := "`ls` printed:\n\n````\n```\nää"; !strings.HasPrefix(answer, want) {
		t.Errorf("got  %.60q\nwant %q", answer, want)
	}
	if want := "ä\n````\n(and 2004 more bytes)"; !strings.HasSuffix(answer, want) {
		t.Errorf("got  …%q\nwant %q", answer[len(answer)-60:], want)
	}
}

// TestWhatIsCopied checks that what is written to the second file is what the
// first one holds, and that nothing is written when that is not known.
func TestWhatIsCopied(t *testing.T) {
	t.Parallel()
	const undone = "That was not shown to me in full, so I did not go on with it."
	for _, tt := range []struct{ name, read, want string }{
		{"lines", "     1\tone\n     2\t\ttwo", "one\n\ttwo\n"},
		{"no line end", "     1\tone\n[the last line has no line end]", "one"},
		{"brackets", "     1\t[one]", "[one]\n"},
		{"empty", "[the file is empty]", ""},
		{"not numbered", "one\ntwo", "one\ntwo"},
		{"more", "     1\tone\n[there is more; go on with offset 2]", undone},
		{"other line ends", "     1\tone\n[lines end in CRLF]", undone},
		{"cut line", "     1\tone… [5 more bytes in this line]", undone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			written := undone
			_, answer := converse(t, request(user("copy a.txt to b.txt")), func(c chela.CallSpec) string {
				if c.Tool == "write_file" {
					written = strings.TrimPrefix(describe(t, []chela.CallSpec{c}), "write_file path=b.txt content=")
				}
				return map[string]string{"read_file": tt.read, "write_file": "written"}[c.Tool]
			})
			if written != tt.want {
				t.Errorf("wrote %q, want %q", written, tt.want)
			}
			if strings.HasSuffix(answer, undone) != (tt.want == undone) {
				t.Errorf("answer is %q", answer)
			}
		})
	}
}

func TestResultsInOtherOrder(t *testing.T) {
	t.Parallel()
	req := request(user("what is 1+1 and what is 2+2"))
	f := finish(t, req)
	for i := range f.Calls {
		f.Calls[i].ID = chela.CallID(fmt.Sprintf("call_%d", i))
	}
	req.Messages = append(req.Messages,
		chela.Message{Role: chela.RoleAssistant, Calls: f.Calls},
		chela.Message{Role: chela.RoleTool, Call: "call_1", Text: "4"},
		chela.Message{Role: chela.RoleTool, Ref: f.Calls[0].Ref, Text: "2"},
	)
	if got, want := finish(t, req).Text, "1+1 = 2. 2+2 = 4."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResultsAreNotTakenForTalk(t *testing.T) {
	t.Parallel()
	if _, answer := converse(t, request(user("echo about")), func(chela.CallSpec) string { return "about" }); answer != "about" {
		t.Errorf("got %q, want about", answer)
	}
}

func TestEmptyMessage(t *testing.T) {
	t.Parallel()
	if got := finish(t, request(user(" "))).Text; !strings.HasPrefix(got, "I did not understand that.") {
		t.Errorf("got %q", got)
	}
}

func TestLimitOfOutput(t *testing.T) {
	t.Parallel()
	req := request(user("hi"))
	req.MaxTokens = 2
	if f := finish(t, req); f.Text != "Hello! I" || f.Stop != chela.StopLength {
		t.Errorf("got %q, %s", f.Text, f.Stop)
	}
}
