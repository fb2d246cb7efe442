package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// A scribe is a server of Chat Completions that does what the newest message
// says, whoever asks and how often, and writes down what it was sent. A message
// is a name, a letter for each tool to call, and anything else: "m3 cw …".
type scribe struct {
	*httptest.Server
	t  *testing.T
	mu sync.Mutex

	final map[string][]wireMessage // guarded by mu; the newest request that was answered with the end of each message
}

// A wireMessage is a message as it comes over the wire.
type wireMessage struct {
	Role    string
	Content any
}

// text is what a message says.
func (m wireMessage) text() string {
	switch c := m.Content.(type) {
	case string:
		return c
	case nil:
		return ""
	default:
		raw, err := json.Marshal(c)
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
}

func newScribe(t *testing.T) *scribe {
	t.Helper()
	s := &scribe{t: t, final: map[string][]wireMessage{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// env makes chela use the scribe.
func (s *scribe) env() []string {
	return []string{"CHELA_MODEL=openai/any", "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=none"}
}

func (s *scribe) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked has gone
	}
	var asked struct{ Messages []wireMessage }
	if err := json.Unmarshal(raw, &asked); err != nil {
		s.t.Errorf("the model is asked %q: %v", raw, err)
		return
	}
	s.answer(asked.Messages).write(s.t, w)
}

// answer is the next step of the newest message.
func (s *scribe) answer(asked []wireMessage) reply {
	if strings.Contains(asked[len(asked)-1].text(), "write them down now with memory_write") {
		return reply{text: "NO_REPLY"}
	}
	at := -1
	var words []string
	for i, m := range asked {
		if fields := strings.Fields(m.text()); m.Role == "user" && len(fields) > 1 && isMessage(fields[0]) {
			at, words = i, fields
		}
	}
	if at < 0 {
		return reply{text: "a summary"}
	}
	name, ops := words[0], strings.Trim(words[1], "-")
	done := 0
	for _, m := range asked[at:] { // the newest result counts: those before may have left the prompt
		if m.Role == "tool" && strings.HasPrefix(m.text(), "wrote") {
			done = strings.Index(ops, "w") + 1
		} else if m.Role == "tool" {
			done = strings.Index(ops, "c") + 1
		}
	}
	if done < len(ops) {
		if ops[done] == 'c' {
			return reply{tool: "calc", args: `{"expression":"2+2"}`}
		}
		return reply{tool: "write_file", args: fmt.Sprintf(`{"path":%q,"content":"x"}`, name)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final[name] = slices.Clone(asked)
	return reply{text: "done " + name}
}

// isMessage reports whether a word is the name of a message.
func isMessage(word string) bool {
	number, ok := strings.CutPrefix(word, "m")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// checkPrompt compares what the model was sent before it ended a message with
// what the journal comes to, in the simplest way.
func (s *sequence) checkPrompt(name string) error {
	found, err := s.look()
	if err != nil {
		return err
	}
	path := found.path(found.heads[found.current])
	end := slices.IndexFunc(path, func(e chela.Entry) bool { return e.Kind() == chela.EntryAssistant && e.Text() == "done "+name })
	if end < 0 {
		return fmt.Errorf("the answer to %s is not on the path", name)
	}
	s.scribe.mu.Lock()
	sent := s.scribe.final[name]
	s.scribe.mu.Unlock()
	var got []string
	for _, m := range sent[1:] { // after the system text
		got = append(got, m.Role+": "+m.text())
	}
	if diff := cmp.Diff(promptOf(path[:end]), got); diff != "" {
		return fmt.Errorf("prompt of %s (-want +got):\n%s", name, diff)
	}
	return nil
}

// promptOf is the prompt that a path comes to: what the newest compaction says,
// what it pinned, and everything from its first kept entry on.
func promptOf(path []chela.Entry) (lines []string) {
	newest := -1
	for i, e := range path {
		if e.Kind() == chela.EntryCompaction {
			newest = i
		}
	}
	if newest < 0 {
		return promptLines(path)
	}
	c := path[newest].Compaction()
	lines = append(lines, "user: "+summaryLead+c.Text)
	kept := slices.IndexFunc(path, func(e chela.Entry) bool { return e.ID == c.FirstKept })
	var left []chela.Entry
	for i, e := range path {
		if i > newest || slices.Contains(c.Pinned, e.ID) || i >= kept && e.Mark().Note != chela.NoteFlush && e.Mark().Note != chela.NoteResume {
			left = append(left, e)
		}
	}
	return append(lines, promptLines(left)...)
}

// summaryLead is what the model reads before a summary.
const summaryLead = "[note from the host] The beginning of this conversation has left the prompt. What it came to:\n\n"

func promptLines(path []chela.Entry) (lines []string) {
	for _, e := range path {
		switch e.Kind() {
		case chela.EntryUser:
			if e.User().Command != "" {
				continue
			}
			lines = append(lines, "user: "+e.Text())
		case chela.EntryNote:
			lines = append(lines, "user: [note from the host] "+e.Text())
		case chela.EntryAssistant:
			lines = append(lines, "assistant: "+e.Text())
		case chela.EntryToolResult:
			lines = append(lines, "tool: "+e.Text())
		}
	}
	return lines
}
