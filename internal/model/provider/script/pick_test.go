package script_test

import (
	"strings"
	"testing"

	"chela"
)

func note(text string) chela.Message { return user("[note from the host] " + text) }

const ordered = `
name: ordered
turns:
  - steps: [{text: a1}, {text: a2}]
  - {when: weather, steps: [{text: w1}, {text: w2}]}
  - {when: '/^(?i)HELLO\b/', steps: [{text: hi}]}
  - steps: [{text: b1}]
`

func TestWhichStep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		messages []chela.Message
		want     string
	}{
		{"first", []chela.Message{user("x")}, "a1"},
		{"after calls", []chela.Message{user("x"), assistant(""), result("1"), result("2")}, "a2"},
		{"second turn", []chela.Message{user("x"), assistant("a1"), user("y")}, "b1"},
		{"several user messages are one turn", []chela.Message{user("x"), user("y")}, "a1"},
		{"a steering message is a turn", []chela.Message{user("x"), assistant(""), result("1"), user("y")}, "b1"},
		{"by text", []chela.Message{user("the weather?")}, "w1"},
		{"by text of any message of the run", []chela.Message{user("the weather?"), user("please")}, "w1"},
		{"by text, later step", []chela.Message{user("the weather?"), assistant("")}, "w2"},
		{"by expression", []chela.Message{user("hello you")}, "hi"},
		{"not by expression", []chela.Message{user("say hello")}, "a1"},
		{"keyed turns are not counted", []chela.Message{user("weather"), assistant(""), user("x")}, "a1"},
		{"the same text again", []chela.Message{user("weather"), assistant("w1"), user("weather")}, "w1"},
		{"nobody spoke", nil, "a1"},
		{"notes of the host are not said by anybody", []chela.Message{user("x"), note("weather"), assistant(""), result("1"), note("weather")}, "a2"},
		{
			"past the turns",
			[]chela.Message{user("x"), assistant(""), user("y"), assistant(""), user("z")},
			`error: script: scenario "ordered": the scenario has no turn for "z"`,
		},
		{
			"past the steps",
			[]chela.Message{user("hello"), assistant("hi")},
			`error: script: scenario "ordered": the scenario has no step 2 in turn 3`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(t, setup(t, ordered), tt.messages...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPastEnd(t *testing.T) {
	t.Parallel()
	repeat := "past_end: repeat" + strings.TrimPrefix(ordered, "\nname: ordered")
	echo := "past_end: echo" + strings.TrimPrefix(ordered, "\nname: ordered")
	thirdTurn := []chela.Message{user("x"), assistant(""), user("y"), assistant(""), user(" z\n")}
	for _, tt := range []struct {
		name, scenario string
		messages       []chela.Message
		want           string
	}{
		{"repeat turns", repeat, thirdTurn, "a1"},
		{"repeat steps", repeat, []chela.Message{user("weather"), assistant(""), assistant(""), assistant("")}, "w2"},
		{"echo a message", echo, thirdTurn, "z"},
		{"echo a result", echo, append(thirdTurn[:5:5], assistant(""), result("r")), "r"},
		{"echo only", "past_end: echo", []chela.Message{user("x")}, "x"},
		{"echo before the scenario's end", echo, thirdTurn[:3], "b1"},
		{"repeat with keyed turns only", "past_end: repeat\nturns: [{when: q, steps: [{text: a}]}]", thirdTurn, `error: script: the scenario has no turn for " z\n"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(t, setup(t, tt.scenario), tt.messages...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	p := setup(t, `
turns:
  - steps:
      - text: none
      - text: "{{result 1}}, {{ result 0 }}; {{user}}; {{result 0}}"
      - text: "{{result 7}}"
      - {text: ok, calls: [{tool: a, args: {b: ["{{result 7}}"]}}]}
`)
	messages := []chela.Message{user("q {{user}}"), assistant(""), result("zero"), result("one {{result 0}}")}
	if got, want := text(t, p, messages...), "one {{result 0}}, zero; q {{user}}; zero"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for range 2 {
		messages = append(messages, assistant(""))
		if got := text(t, p, messages...); !strings.HasSuffix(got, ": {{result 7}} is quoted, but the turn has 2 results") {
			t.Errorf("got %q", got)
		}
	}
}
