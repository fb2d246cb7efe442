package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/transcript"
)

const (
	head = `{"type":"session","version":2,"id":"x"}` + "\n"
	user = `{"type":"message","id":"a","parentId":null,"role":"user","content":"hi"}` + "\n"
	call = `{"type":"message","id":"b","parentId":"a","role":"assistant","content":[{"type":"toolCall","id":"t","name":"n"}]}` + "\n"
	own  = `{"type":"session","version":2,"id":"thr_1","chela":{"entries":1}}` + "\n"
)

// result is the line of a result of the call.
func result(id, parent string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"role":"tool","toolCallId":"t","content":"ok"}`+"\n", id, parent)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, says string }{
		{"nothing", "", "the transcript is empty"},
		{"blank lines", "\n \n", "the transcript is empty"},
		{"no header", user, "line 1: it is not the header"},
		{"header without an id", `{"type":"session"}`, "line 1: the header has no id"},
		{"nothing said", head, "the transcript has no entries"},
		{"no JSON", head + "\n" + "hello\n", "line 3: it is not a JSON entry"},
		{"cut off", head + user + user[:20], "line 3: it is not a JSON entry"},
		{"lines are missing", own, "line 2: the file has 0 entries, but its header says 1"},
		{"not UTF-8", head + strings.Replace(user, "hi", "\xff", 1), "line 2: it is not plain UTF-8"},
		{"NUL", head + strings.Replace(user, "hi", `\u0000`, 1), "line 2: it is not plain UTF-8"},
		{"no id", head + `{"type":"message","role":"user"}`, "line 2: the entry has no id"},
		{"id twice", head + user + user, `line 3: duplicate entry id "a"`},
		{"no such parent", head + strings.Replace(user, "null", `"z"`, 1), `line 2: the parent "z"`},
		{"its own parent", head + strings.Replace(user, "null", `"a"`, 1), `line 2: the parent "a"`},
		{"no type", head + `{"id":"a"}`, `line 2: the entry is of type ""`},
		{"two headers", head + `{"type":"session","id":"a"}`, `line 2: the entry is of type "session"`},
		{"unknown role", head + strings.Replace(user, `"user"`, `"system"`, 1), `line 2: unknown role "system"`},
		{"unknown block", head + strings.Replace(user, `"hi"`, `[{"type":"video"}]`, 1), `line 2: unknown block type "video"`},
		{"content that is a number", head + strings.Replace(user, `"hi"`, "7", 1), "line 2: the content is neither"},
		{"result without a call", head + user + result("b", "a"), "line 3: the result answers no open call"},
		{"result at the root", head + `{"type":"message","id":"a","role":"tool","toolCallId":"t"}`, "line 2: the result answers no open call"},
		{"call answered twice", head + user + call + result("c", "b") + result("d", "c"), "line 5: the result answers no open call"},
		{"user who calls", head + strings.Replace(user, `"hi"`, `[{"type":"toolCall","id":"t","name":"n"}]`, 1), "line 2: only the assistant calls tools"},
		{"call of no tool", head + user + strings.Replace(call, `"name":"n"`, `"name":""`, 1), "line 3: a call names no tool"},
		{"two calls alike", head + user + strings.Replace(call, `[{`, `[{"type":"toolCall","id":"t","name":"n"},{`, 1), "line 3: two calls have the same id"},
		{"attachment of nothing", head + strings.Replace(user, `"hi"`, `[{"type":"image","mimeType":"image/png"}]`, 1), "line 2: an attachment has neither"},
		{"compaction of nothing", head + user + `{"type":"compaction","id":"c","parentId":"a","firstKeptEntryId":"z"}`, "line 3: the compaction keeps an entry that is not its ancestor"},
		{"head that is not there", strings.Replace(own, `"entries"`, `"head":"ent_9","entries"`, 1) + user, "line 1: the head of the thread is not in the file"},
		{"body in the rest", own + strings.Replace(user, `"hi"`, `"hi","chela":{"body":{"first_kept":"ent_1"}}`, 1), "line 2: the field chela has no valid body"},
		{"rest that is none", own + strings.Replace(user, `"hi"`, `"hi","chela":{"body":[]}`, 1), "line 2: the field chela has no valid body"},
		{"user who pins", own + strings.Replace(user, `"hi"`, `"hi","chela":{"body":{"pinned":["a"]}}`, 1), "line 2: only a compaction pins"},
		{
			"attachment that is another", own + strings.Replace(user, `"hi"`, `[{"type":"file","data":"aGk=","chela":{"name":"x","sha256":"00","size":2}}]`, 1),
			`line 2: the content of attachment "x" does not match its hash`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := transcript.Read(strings.NewReader(c.file))
			if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	large := head + strings.Replace(user, "hi", strings.Repeat("a", transcript.MaxBytes), 1)
	if _, err := transcript.Read(strings.NewReader(large)); chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), "larger than 25 MiB") {
		t.Errorf("a large file: %v", err)
	}
	var many strings.Builder
	many.WriteString(head)
	for i := range transcript.MaxEntries + 1 {
		fmt.Fprintf(&many, `{"type":"custom","id":"%d"}`+"\n", i)
	}
	if _, err := transcript.Read(strings.NewReader(many.String())); chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), "more than 50000 entries") {
		t.Errorf("many entries: %v", err)
	}
}

func TestSessionOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chela.SessionKey{
		"": "", "x": "", head: "",
		`{"type":"session","id":"thr_1","chela":{"session":"agent:main:dm:al","entries":1}}` + "\n{": "agent:main:dm:al",
		`{"type":"session","id":"thr_1","chela":{"session":"agent:ma`:                                "",
	} {
		if got := transcript.SessionOf([]byte(text)); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}
