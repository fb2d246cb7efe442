package offline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/offline"
)

// allTools are the names of the tools the rules know.
var allTools = []string{
	"time", "calc", "read_file", "write_file", "list_dir", "shell",
}

func user(text string) chela.Message {
	return chela.Message{Role: chela.RoleUser, Text: text}
}

// request returns a request with all tools on offer.
func request(messages ...chela.Message) *chela.Request {
	req := &chela.Request{Model: "rules", Messages: messages}
	for _, name := range allTools {
		req.Tools = append(req.Tools, chela.ToolSpec{Name: name})
	}
	return req
}

func finish(t *testing.T, req *chela.Request) *chela.Finish {
	t.Helper()
	var text strings.Builder
	var f *chela.Finish
	for c, err := range offline.New(offline.Config{}).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Fatal("the stream goes on after its finish")
		}
		text.WriteString(c.Text)
		f = c.Finish
	}
	if f == nil {
		t.Fatal("the stream ended without a finish")
	}
	if f.Text != text.String() {
		t.Fatalf("the finish has %q, the chunks %q", f.Text, text.String())
	}
	return f
}

// A tools answers a call; a text that begins with "!" is a failure.
type tools func(c chela.CallSpec) string

// converse plays a whole turn. It returns the calls of each step, one line
// each, and the answer.
func converse(t *testing.T, req *chela.Request, run tools) (steps []string, answer string) {
	t.Helper()
	for range 20 {
		f := finish(t, req)
		if len(f.Calls) == 0 {
			return steps, f.Text
		}
		steps = append(steps, describe(t, f.Calls))
		req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Text: f.Text, Calls: f.Calls})
		for _, c := range f.Calls {
			text, failed := strings.CutPrefix(run(c), "!")
			req.Messages = append(req.Messages, chela.Message{Role: chela.RoleTool, Ref: c.Ref, Tool: c.Tool, Text: text, Failed: failed})
		}
	}
	t.Fatal("the turn does not end")
	return nil, ""
}

// describe writes calls as "tool key=value …; tool …", keys in order.
func describe(t *testing.T, calls []chela.CallSpec) string {
	t.Helper()
	var lines []string
	for _, c := range calls {
		var args map[string]any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			t.Fatalf("args of %s: %v", c.Tool, err)
		}
		line := c.Tool
		for _, key := range []string{"operation", "zone", "expression", "path", "content", "command"} {
			if v, ok := args[key]; ok {
				line += fmt.Sprintf(" %s=%v", key, v)
				delete(args, key)
			}
		}
		if len(args) > 0 {
			t.Fatalf("unexpected args %v", args)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// echoes answers a call with its tool's name.
func echoes(c chela.CallSpec) string { return "<" + c.Tool + ">" }

// expectCalls checks the calls that each text leads to.
func expectCalls(t *testing.T, table [][]string) {
	t.Helper()
	for _, row := range table {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			got, _ := converse(t, request(user(row[0])), echoes)
			if diff := cmp.Diff(row[1:], got); diff != "" {
				t.Errorf("steps (-want +got)\n%s", diff)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"what time is it?", "time operation=now"},
		{"What is the date today?", "time operation=now"},
		{"What day is it", "time operation=now"},
		{"what time is it in Tokyo", "time operation=now zone=Asia/Tokyo"},
		{"Please tell me what time it is in Paris.", "time operation=now zone=Europe/Paris"},
		{"current time in Asia/Kolkata", "time operation=now zone=Asia/Kolkata"},
		{"Time in america/los_angeles, please", "time operation=now zone=America/Los_Angeles"},
		{"What's the time in UTC?", "time operation=now zone=UTC"},
		{"what is 17*23?", "calc expression=17*23"},
		{"compute 2+2", "calc expression=2+2"},
		{"calculate 6 * 7", "calc expression=6 * 7"},
		{"compute sqrt(2)", "calc expression=sqrt(2)"},
		{"12 / (3 - 1)", "calc expression=12 / (3 - 1)"},
		{"list the files", "list_dir path=."},
		{"ls", "list_dir path=."},
		{"list the files in src", "list_dir path=src"},
		{"read a.txt", "read_file path=a.txt"},
		{"open README, please.", "read_file path=README"},
		{"cat src/a.go", "read_file path=src/a.go"},
		{"write hello to a.txt", "write_file path=a.txt content=hello"},
		{"write salt and pepper to a.txt", "write_file path=a.txt content=salt and pepper"},
		{`save "one. Then two" to a.txt`, "write_file path=a.txt content=one. Then two"},
		{"run `ls -la`", "shell command=ls -la"},
		{"run the command: make and make test", "shell command=make and make test"},
		{"What time is it in Tokyo, and what is 17*23?", "time operation=now zone=Asia/Tokyo; calc expression=17*23"},
		{"what is 1+1? what is 2+2?", "calc expression=1+1; calc expression=2+2"},
		{"Hi, what is 2+2?", "calc expression=2+2"},
		{"List the files, read a.txt and run `pwd`", "list_dir path=.; read_file path=a.txt; shell command=pwd"},
		{"write hello to a.txt, then read a.txt", "write_file path=a.txt content=hello; read_file path=a.txt"},
		{"read a.txt\nread b.txt", "read_file path=a.txt; read_file path=b.txt"},
	})
}

func TestNearMisses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"what's the time complexity of quicksort", "what time does the movie start", "what is the time in the movie", "time flies",
		"what's the best time to visit Paris", "what time is it in Atlantis", "bed time",
		"convert 3 miles to kilometers", "convert 3pm to Berlin",
		"what is 42", "what is love", "what is 2024-01-01", "what is the capital of France", "what is C++", "how much is the fish",
		"list the planets", "show me the money", "what files should I keep?",
		"read carefully", "read between the lines", "open the door", "read https://", "look at me",
		"write a poem to my mother", "write a letter to mom", "save the world", "create a website", "make me a sandwich", "put the book in the drawer",
		"replace the oil in the car", "change my password to 1234",
		"find my keys", "find waldo", "search for cheap flights in Europe", "search the web for cats", "look for a job in Berlin",
		"run away", "run a marathon", "run for president", "execute the plan",
		"get well soon", "fetch the ball", "open sesame", "post a letter to Berlin",
		"test this", "check the json", "is this valid?", "query the database",
		"write it to b.txt", "read it", "read a.txt, then write it to b.txt", "then do it", "and", ".", "?!", "", "   ", "don't delete anything", "do not read a.txt",
		"my name is Bob. read a.txt", "read a.txt and tell me a joke",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if f := finish(t, request(user(text))); len(f.Calls) > 0 {
				t.Errorf("it calls %s", describe(t, f.Calls))
			}
		})
	}
}

// TestManyJoints: a message with many clauses that are understood, and one that is
// not, takes no long time.
func TestManyJoints(t *testing.T) {
	t.Parallel()
	for _, clause := range []string{"hi, ", "run the command: a, ", "what is 1+1, "} {
		for _, n := range []int{10, 60, 20_000} {
			began := time.Now()
			if f := finish(t, request(user(strings.Repeat(clause, n)+"xyz"))); len(f.Calls) > 1 {
				t.Errorf("%d times %q: it makes %d calls", n, clause, len(f.Calls))
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%d times %q took %s", n, clause, took)
			}
		}
	}
}

// TestMissingTools names the tools that are not offered, and uses the others.
func TestMissingTools(t *testing.T) {
	t.Parallel()
	req := request(user("what is 1+1 and list the files"))
	req.Tools = slices.DeleteFunc(req.Tools, func(s chela.ToolSpec) bool { return s.Name == "calc" })
	steps, answer := converse(t, req, echoes)
	if diff := cmp.Diff([]string{"list_dir path=."}, steps); diff != "" {
		t.Errorf("steps (-want +got)\n%s", diff)
	}
	if want := "The workspace: <list_dir>. I would need the tool calc for that, and it is not offered here."; answer != want {
		t.Errorf("answer %q, want %q", answer, want)
	}
}

func TestWhatCountsAsSaid(t *testing.T) {
	t.Parallel()
	call := chela.CallSpec{ID: "call_1", Ref: "r", Tool: "calc", Args: []byte(`{"expression":"1+1"}`)}
	asked := chela.Message{Role: chela.RoleAssistant, Calls: []chela.CallSpec{call}}
	two := chela.Message{Role: chela.RoleTool, Call: "call_1", Text: "2"}
	note := user("[note from the host] You were restarted. What is 5+5?")
	for _, tt := range []struct {
		name     string
		messages []chela.Message
		steps    []string
		answer   string
	}{
		{"messages in a row", []chela.Message{user("what is 1+1"), user("what is 2+2")}, []string{"calc expression=1+1; calc expression=2+2"}, "1+1 = 9. 2+2 = 9."},
		{"an empty message among them", []chela.Message{user("what is 1+1"), user(" ")}, []string{"calc expression=1+1"}, "1+1 = 9."},
		{"only the newest turn", []chela.Message{user("what is 1+1"), asked, two, {Role: chela.RoleAssistant, Text: "2"}, user("what is 2+2")}, []string{"calc expression=2+2"}, "2+2 = 9."},
		{"a call already made", []chela.Message{user("what is 1+1"), asked, two}, nil, "1+1 = 2."},
		{"a note after it", []chela.Message{user("what is 1+1"), asked, two, note}, nil, "1+1 = 2."},
		{"a note before it", []chela.Message{note, user("what is 1+1")}, []string{"calc expression=1+1"}, "1+1 = 9."},
		{"calls that another model made", []chela.Message{user("how old is the moon"), asked, two}, nil, "1+1 = 2."},
		{"a call without a result", []chela.Message{user("what is 1+1"), asked}, nil, "The call of calc was not answered."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			steps, answer := converse(t, request(tt.messages...), func(chela.CallSpec) string { return "9" })
			if diff := cmp.Diff(tt.steps, steps); diff != "" {
				t.Errorf("steps (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.answer, answer); diff != "" {
				t.Errorf("answer (-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, result, want string }{
		{"what time is it in Tokyo", "2026-11-22T00:14:05+09:00\nSunday, 22 November 2026, 00:14:05; zone Asia/Tokyo", "It is Sunday, 22 November 2026, 00:14:05 in Tokyo."},
		{"what is the date", "2026-11-22T00:14:05Z\nSunday, 22 November 2026, 00:14:05; zone UTC", "It is Sunday, 22 November 2026, 00:14:05 in UTC."},
		{"what is 17*23", "391", "17*23 = 391."},
		{"write hi to a.txt", "wrote /workspace/a.txt, 2 bytes", "I wrote a.txt, 2 bytes."},
		{"read a.txt", "     1\tone", "a.txt: one."},
		{"read a.txt", "     1\tone\n     2\ttwo", "a.txt:\n\n```\none\ntwo\n```"},
		{"list the files", "a.txt (8 bytes)\nsrc/\n", "The workspace:\n\n```\na.txt (8 bytes)\nsrc/\n```"},
		{"run `true`", "", "I did run true; it printed nothing."},
		{"what time is it in Atlantis", "", "I do not know in which time zone Atlantis is; name a zone such as Europe/Berlin."},
		{"hello", "", "Hello! I am chela's offline stand-in; tell me what to do in a few plain words."},
		{"read a.txt", "!there is no file a.txt", "I could not read a.txt: there is no file a.txt."},
		{"run `rm -r src`", "!denied: the owner said no: not today", "I was not allowed to run rm -r src, so I did not: the owner said no: not today."},
		{"run `make`", "!make: permission denied", "I could not run make: make: permission denied."},
		{
			"run `make`", "!chela was stopped while this call ran. It may or may not have happened.",
			"I cannot tell whether I did run make: chela was stopped while this call ran. It may or may not have happened.",
		},
		{"compute 1/0", "!division by zero at byte 2", "I could not compute 1/0: division by zero at byte 2."},
	} {
		_, answer := converse(t, request(user(tt.text)), func(chela.CallSpec) string { return tt.result })
		if diff := cmp.Diff(tt.want, answer); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.text, diff)
		}
	}
	_, answer := converse(t, request(user("what is the meaning of life?")), echoes)
	if !strings.HasPrefix(answer, "I did not understand that. I am chela's offline stand-in") {
		t.Errorf("answer %q", answer)
	}
}

// TestLongResults quotes the beginning of a long result, between fences that do not
// occur in it.
func TestLongResults(t *testing.T) {
	t.Parallel()
	_, answer := converse(t, request(user("run `seq`")), func(chela.CallSpec) string { return "```\n" + strings.Repeat("x", 5000) })
	if !strings.HasPrefix(answer, "seq:\n\n````\n```\nxxx") || !strings.HasSuffix(answer, "x\n````\n(and 1004 more bytes)") {
		t.Errorf("answer %.60q … %q", answer, answer[len(answer)-40:])
	}
}
