package offline_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestSeveralThings(t *testing.T) {
	t.Parallel()
	expectCalls(t, [][]string{
		{"What time is it in Tokyo and what is 17*23?", "time operation=now zone=Asia/Tokyo; calc expression=17*23"},
		{"List the files, read a.txt, and run `pwd`", "list_dir path=.; read_file path=a.txt; shell command=pwd"},
		{"what is 1+1? what is 2+2?", "calc expression=1+1; calc expression=2+2"},
		{"what is 1+1 and what is 1+1", "calc expression=1+1"},
		{"1. read a.txt\n2. read b.txt", "read_file path=a.txt; read_file path=b.txt"},
		{"Hi, what is 2+2?", "calc expression=2+2"},
		{"list the files, then read a.txt", "list_dir path=.", "read_file path=a.txt"},
		{"read a.txt then write it to b.txt", "read_file path=a.txt", "write_file path=b.txt content=<read_file>"},
		{"Read a.txt. Then write it to b.txt.", "read_file path=a.txt", "write_file path=b.txt content=<read_file>"},
		{"read a.txt and write its contents to b.txt", "read_file path=a.txt", "write_file path=b.txt content=<read_file>"},
		{"copy a.txt to b.txt", "read_file path=a.txt", "write_file path=b.txt content=<read_file>"},
		{"write hello to a.txt, then read it", "write_file path=a.txt content=hello", "read_file path=a.txt"},
		{"What is 6*7? Write the result to r.txt and read it.", "calc expression=6*7", "write_file path=r.txt content=<calc>", "read_file path=r.txt"},
		{"run date, then echo it", "shell command=date", "echo message=<shell>"},
		{"fetch https://example.com and save it to page.html", "http method=GET url=https://example.com save_to=page.html"},
		{"read a.json, then query b in it", "read_file path=a.json", "json operation=query data=<read_file> path=b"},
		{"compute 1+1 and compute 2+2, then write them to sums.txt", "calc expression=1+1; calc expression=2+2", "write_file path=sums.txt content=<calc>\n<calc>"},
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
		"then do it", "and", ".", "?!", "", "   ", "don't delete anything", "do not read a.txt",
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

func TestNothingToReferTo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"write it to b.txt", "read it", "echo that"} {
		steps, answer := converse(t, request(user(text)), echoes)
		if len(steps) > 0 || answer != "I cannot tell what that refers to: please name the file or the text." {
			t.Errorf("%s: steps %q, answer %q", text, steps, answer)
		}
	}
}

func TestToolsThatAreNotOffered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		missing string
		steps   []string
		answer  string
	}{
		{"what is 1+1", "calc", nil, "I would need the tool calc for that, and it is not offered here."},
		{
			"what is 1+1 and list the files", "calc",
			[]string{"list_dir path=."},
			"The workspace has `<list_dir>`. I would need the tool calc for that, and it is not offered here.",
		},
		{
			"read a.txt, then write it to b.txt", "write_file",
			[]string{"read_file path=a.txt"},
			"a.txt says `<read_file>`. I would need the tool write_file for that, and it is not offered here.",
		},
	} {
		req := request(user(tt.text))
		req.Tools = slices.DeleteFunc(req.Tools, func(s chela.ToolSpec) bool { return s.Name == tt.missing })
		steps, answer := converse(t, req, echoes)
		if diff := cmp.Diff(tt.steps, steps); diff != "" {
			t.Errorf("%s: steps (-want +got)\n%s", tt.text, diff)
		}
		if diff := cmp.Diff(tt.answer, answer); diff != "" {
			t.Errorf("%s: answer (-want +got)\n%s", tt.text, diff)
		}
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
