package offline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/offline"
)

// allTools are the names of the tools the rules know.
var allTools = []string{
	"time", "calc", "echo", "json", "read_file", "write_file", "list_dir", "apply_patch", "glob", "grep", "shell", "http",
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
		for _, key := range []string{
			"operation", "time", "until", "zone", "to_zone", "format", "expression", "message", "data", "path", "pattern", "literal", "include",
			"recursive", "offset", "limit", "content", "old_string", "new_string", "replace_all", "command", "workdir", "method",
			"url", "body", "save_to",
		} {
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

func TestTime(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"what time is it?", "time operation=now"},
		{"What is the date today?", "time operation=now"},
		{"what's the date and time", "time operation=now"},
		{"What day is it", "time operation=now"},
		{"what time is it in Tokyo", "time operation=now zone=Asia/Tokyo"},
		{"Please tell me what time it is in Paris.", "time operation=now zone=Europe/Paris"},
		{"do you know what time it is in new york city?", "time operation=now zone=America/New_York"},
		{"current time in Asia/Kolkata", "time operation=now zone=Asia/Kolkata"},
		{"Time in america/los_angeles, please", "time operation=now zone=America/Los_Angeles"},
		{"What's the time in UTC right now?", "time operation=now zone=UTC"},
		{"Tokyo time", "time operation=now zone=Asia/Tokyo"},
		{"what time is it in Japan", "time operation=now zone=Japan"},
		{"what time is it in London and in Sydney?", "time operation=now zone=Europe/London; time operation=now zone=Australia/Sydney"},
		{"what's the time in Oslo, Rome and Cairo", "time operation=now zone=Europe/Oslo; time operation=now zone=Europe/Rome; time operation=now zone=Africa/Cairo"},
		{"convert 3pm Tokyo time to Berlin", "time operation=convert time=3PM zone=Asia/Tokyo to_zone=Europe/Berlin"},
		{"Convert 15:30 from Asia/Tokyo to Europe/Berlin", "time operation=convert time=15:30 zone=Asia/Tokyo to_zone=Europe/Berlin"},
		{"what is 9 am in New York in London?", "time operation=convert time=9AM zone=America/New_York to_zone=Europe/London"},
		{"convert 7 o'clock in Rome to Delhi", "time operation=convert time=7:00 zone=Europe/Rome to_zone=Asia/Kolkata"},
		{"when it is noon in Paris, what time is it in Sydney?", "time operation=convert time=12:00 zone=Europe/Paris to_zone=Australia/Sydney"},
		{"convert 2024-01-02T03:04:05Z to Tokyo time", "time operation=convert time=2024-01-02T03:04:05Z to_zone=Asia/Tokyo"},
		{"how many days between 2024-01-01 and 2024-03-01?", "time operation=diff time=2024-01-01 until=2024-03-01"},
		{"how long is it from now to 2030-01-01", "time operation=diff until=2030-01-01"},
		{"how many days until 2030-01-01?", "time operation=diff until=2030-01-01"},
		{"parse the date 5 May 2024", "time operation=parse time=5 May 2024"},
		{"format 2024-05-06 as %d %B %Y", "time operation=format time=2024-05-06 format=%d %B %Y"},
	})
}

func TestCalc(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"what is 17*23", "calc expression=17*23"},
		{"What's 5 plus 7 times 3?", "calc expression=5 + 7 * 3"},
		{"compute 2 + 2", "calc expression=2 + 2"},
		{"Calculate (1+2)*3 =", "calc expression=(1+2)*3"},
		{"17*23", "calc expression=17*23"},
		{"compute 42", "calc expression=42"},
		{"what is 15% of 200?", "calc expression=15/100*200"},
		{"what is the square root of 144", "calc expression=sqrt(144)"},
		{"what's 2**10?", "calc expression=2^10"},
		{"what is 2 to the power of 10", "calc expression=2^10"},
		{"what is 5 factorial", "calc expression=5!"},
		{"what is 3 squared plus 4 squared", "calc expression=3^2 + 4^2"},
		{"how much is 3 x 4", "calc expression=3 * 4"},
		{"what is 10 divided by 4?", "calc expression=10 / 4"},
		{"add 2 and 3", "calc expression=2 + 3"},
		{"subtract 2 from 5", "calc expression=5 - 2"},
		{"multiply 6 by 7", "calc expression=6 * 7"},
		{"divide 9 by 2.", "calc expression=9 / 2"},
		{"what is the sum of 1,000 and 2,500.5?", "calc expression=1000 + 2500.5"},
		{"what is sqrt(16)+max(1,2)", "calc expression=sqrt(16)+max(1,2)"},
		{"compute 1/0", "calc expression=1/0"},
	})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"list the files", "list_dir path=."},
		{"ls", "list_dir path=."},
		{"ls -la docs", "list_dir path=docs"},
		{"show me the files", "list_dir path=."},
		{"What files are there?", "list_dir path=."},
		{"what's in this folder?", "list_dir path=."},
		{"what's in docs/", "list_dir path=docs/"},
		{"list the files in the src directory", "list_dir path=src"},
		{"List all files in docs recursively.", "list_dir path=docs recursive=true"},
		{"list everything recursively", "list_dir path=. recursive=true"},
		{"list docs/", "list_dir path=docs/"},
		{"read a.txt", "read_file path=a.txt"},
		{"read the file notes", "read_file path=notes"},
		{"open README.md, please.", "read_file path=README.md"},
		{"show me the contents of a.txt", "read_file path=a.txt"},
		{"cat Makefile", "read_file path=Makefile"},
		{"what's in src/a.go?", "read_file path=src/a.go"},
		{"What does a.txt say?", "read_file path=a.txt"},
		{`read "my notes.txt"`, "read_file path=my notes.txt"},
		{"read the first 5 lines of a.txt", "read_file path=a.txt limit=5"},
		{"read lines 10 to 20 of a.txt", "read_file path=a.txt offset=10 limit=11"},
		{"read a.txt from line 7", "read_file path=a.txt offset=7"},
		{"read a.txt and b.txt", "read_file path=a.txt; read_file path=b.txt"},
		{"write hello to a.txt", "write_file path=a.txt content=hello"},
		{"write salt and pepper to a.txt", "write_file path=a.txt content=salt and pepper"},
		{`write "one. Then two, and three" to a.txt`, "write_file path=a.txt content=one. Then two, and three"},
		{"save the text hello world in the file greeting", "write_file path=greeting content=hello world"},
		{"create a.txt with hello world", "write_file path=a.txt content=hello world"},
		{"create a file called b.txt with the text 'x y'", "write_file path=b.txt content=x y"},
		{"write to a.txt: hello", "write_file path=a.txt content=hello"},
		{"create an empty file x.md", "write_file path=x.md content="},
		{"write ```go\npackage x\n``` to x.go", "write_file path=x.go content=package x\n"},
		{"replace foo with bar in a.txt", "apply_patch path=a.txt old_string=foo new_string=bar"},
		{`replace all "a b" with 'c d' in src/x.go`, "apply_patch path=src/x.go old_string=a b new_string=c d replace_all=true"},
		{"in a.txt, replace x with y everywhere", "apply_patch path=a.txt old_string=x new_string=y replace_all=true"},
		{"change red to blue in the file colors", "apply_patch path=colors old_string=red new_string=blue"},
		{"find files matching *.go", "glob pattern=**/*.go"},
		{"find all Go files in src", "glob path=src pattern=**/*.go"},
		{"list *.md files", "glob pattern=**/*.md"},
		{"which files match docs/*.txt?", "glob pattern=docs/*.txt"},
		{"search for TODO in files", "grep pattern=TODO"},
		{`search for "func main" in all Go files`, "grep pattern=func main include=*.go"},
		{"search all files for a.b", "grep pattern=a.b literal=true"},
		{"grep foo() in src", "grep path=src pattern=foo() literal=true"},
		{"grep /fo+/ in src", "grep path=src pattern=fo+"},
		{"which files contain panic?", "grep pattern=panic"},
		{"find TODO in *.md", "grep pattern=TODO include=*.md"},
		{"where is Open defined?", "grep pattern=Open"},
	})
}

func TestOtherTools(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"run `ls -la`", "shell command=ls -la"},
		{"run ls -la", "shell command=ls -la"},
		{"`git status`", "shell command=git status"},
		{"$ make test", "shell command=make test"},
		{"run the command frobnicate --fast", "shell command=frobnicate --fast"},
		{"run make and make test", "shell command=make and make test"},
		{`execute "echo hi" in src`, "shell command=echo hi workdir=src"},
		{"run ./build.sh", "shell command=./build.sh"},
		{"fetch https://example.com", "http method=GET url=https://example.com"},
		{"Get https://example.com/a?b=c.", "http method=GET url=https://example.com/a?b=c"},
		{"fetch example.com", "http method=GET url=https://example.com"},
		{"what's at https://example.com?", "http method=GET url=https://example.com"},
		{"download https://example.com/x.zip to x.zip", "http method=GET url=https://example.com/x.zip save_to=x.zip"},
		{`post {"a": 1, "b": "x and y"} to https://example.com/api`, `http method=POST url=https://example.com/api body={"a": 1, "b": "x and y"}`},
		{`PUT https://example.com with body hello`, `http method=PUT url=https://example.com body=hello`},
		{"send a DELETE request to https://example.com/1", "http method=DELETE url=https://example.com/1"},
		{"Please could you echo hello", "echo message=hello"},
		{`say "a" and "b"`, `echo message="a" and "b"`},
		{"echo hello there!", "echo message=hello there!"},
		{"say hi and bye", "echo message=hi and bye"},
		{"Repeat after me: all work", "echo message=all work"},
		{`parse this json: {"a": [1, 2]}`, `json operation=parse data={"a": [1, 2]}`},
		{`validate {"a": 1, }`, `json operation=parse data={"a": 1, }`},
		{"is this valid JSON: {broken", "json operation=parse data={broken"},
		{`query a.b in {"a": {"b": 1}}`, `json operation=query data={"a": {"b": 1}} path=a.b`},
		{`get .name from this json: {"name": "x"}`, `json operation=query data={"name": "x"} path=name`},
		{`query {"a": [1]} for a[0]`, `json operation=query data={"a": [1]} path=a[0]`},
		{`stringify {"a":   1}`, `json operation=stringify data=map[a:1]`},
	})
}
