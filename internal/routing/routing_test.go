package routing_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/routing"
)

func TestSimple(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hello":                                  "",
		"Good morning!":                          "",
		"thanks, that was it :)":                 "",
		"What is the capital of Peru?":           "",
		"who wrote Faust?":                       "",
		"Who writes well?":                       "it asks for work", // better one too many than one too few
		"Tell me a joke.":                        "",
		"yes please":                             "",
		"ok\nbye":                                "",
		"wer war Goethe?":                        "",
		"":                                       "nothing was said",
		"  \n ":                                  "nothing was said",
		strings.Repeat("la ", 81):                "it is long",
		"a\nb\nc\nd":                             "it is long",
		"what does `ls` do":                      "it has code in it",
		"if x == y":                              "it has code in it",
		"main() panics":                          "it has code in it",
		"std::vector or not":                     "it has code in it",
		"see https://chela.example":              "it has code in it",
		"is ann@chela.example right":             "it names an address or a file",
		"what is in notes.md":                    "it names an address or a file",
		"is /etc there":                          "it names an address or a file",
		"delete it":                              "it asks for work",
		"Please run that again":                  "it asks for work",
		"remind me at noon":                      "it asks for work",
		"why is the sky blue?":                   "it asks for work",
		"search for cats":                        "it asks for work",
		"lösche das bitte":                       "it asks for work",
		"Warum ist das so?":                      "it asks for work",
		"the Nile or the Amazon, what's longer?": "",
	} {
		simple, why := routing.Simple(routing.Question{Messages: []chela.Inbound{{Text: text}}})
		if why != want || simple != (want == "") {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
}

func TestSimpleBesideTheText(t *testing.T) {
	t.Parallel()
	hello := chela.Inbound{Text: "hello"}
	with := func(change func(*chela.Inbound)) routing.Question {
		m := hello
		change(&m)
		return routing.Question{Messages: []chela.Inbound{m}}
	}
	for _, tt := range []struct {
		want string
		q    routing.Question
	}{
		{"", routing.Question{Messages: []chela.Inbound{hello, hello}, Entries: 12, Thinking: chela.ThinkingMinimal}},
		{"the conversation is long", routing.Question{Messages: []chela.Inbound{hello}, Entries: 13}},
		{"it is to be thought about", routing.Question{Messages: []chela.Inbound{hello}, Thinking: chela.ThinkingLow}},
		{"it asks for work", routing.Question{Messages: []chela.Inbound{hello, {Text: "find it"}}}},
		{"there are files with it", with(func(m *chela.Inbound) { m.Attachments = []chela.Attachment{{Name: "a.png"}} })},
		{"its sender brings tools", with(func(m *chela.Inbound) { m.Offers = []chela.ToolSpec{{Name: "t"}} })},
		{"its sender brings tools", with(func(m *chela.Inbound) { m.Results = []chela.OfferResult{{}} })},
		{"it brings a conversation along", with(func(m *chela.Inbound) { m.History = []chela.Message{{}} })},
		{"it is a command", with(func(m *chela.Inbound) { m.Command = "compact" })},
	} {
		if simple, why := routing.Simple(tt.q); why != tt.want || simple != (tt.want == "") {
			t.Errorf("got %q, want %q", why, tt.want)
		}
	}
}
