package provider_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider"
)

func TestSimple(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hello":                                  "",
		"Good morning!":                          "",
		"thanks, that was it :)":                 "",
		"What is the capital of Peru?":           "",
		"who wrote Faust?":                       "",
		"Tell me a joke.":                        "",
		"yes please":                             "",
		"ok\nbye":                                "",
		"wer war Goethe?":                        "",
		"":                                       "the message is empty",
		"  \n ":                                  "the message is empty",
		strings.Repeat("la ", 21):                "it is long",
		"a\nb\nc":                                "it is long",
		"what does `ls` do":                      "it contains code",
		"if x == y":                              "it contains code",
		"main() panics":                          "it contains code",
		"std::vector or not":                     "it contains code",
		"see https://chela.example":              "it contains code",
		"is ann@chela.example right":             "it names an address or a file",
		"what is in notes.md":                    "it names an address or a file",
		"is /etc there":                          "it names an address or a file",
		"the Nile or the Amazon, what's longer?": "",
	} {
		simple, why := provider.IsSimple(provider.RouteQuestion{Messages: []chela.Inbound{{Text: text}}})
		if why != want || simple != (want == "") {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
}

func TestSimpleBesideTheText(t *testing.T) {
	t.Parallel()
	hello := chela.Inbound{Text: "hello"}
	with := func(change func(*chela.Inbound)) provider.RouteQuestion {
		m := hello
		change(&m)
		return provider.RouteQuestion{Messages: []chela.Inbound{m}}
	}
	for _, tt := range []struct {
		want string
		q    provider.RouteQuestion
	}{
		{"", provider.RouteQuestion{Messages: []chela.Inbound{hello, hello}, Entries: 12, Thinking: chela.ThinkingMinimal}},
		{"the conversation is long", provider.RouteQuestion{Messages: []chela.Inbound{hello}, Entries: 13}},
		{"thinking is requested", provider.RouteQuestion{Messages: []chela.Inbound{hello}, Thinking: chela.ThinkingLow}},
		{"it contains code", provider.RouteQuestion{Messages: []chela.Inbound{hello, {Text: "what does `ls` do"}}}},
		{"it has attachments", with(func(m *chela.Inbound) { m.Attachments = []chela.Attachment{{Name: "a.png"}} })},
		{"it offers client tools", with(func(m *chela.Inbound) { m.Offers = []chela.ToolSpec{{Name: "t"}} })},
		{"it offers client tools", with(func(m *chela.Inbound) { m.Results = []chela.OfferResult{{}} })},
		{"it includes a conversation", with(func(m *chela.Inbound) { m.History = []chela.Message{{}} })},
		{"it is a command", with(func(m *chela.Inbound) { m.Command = "compact" })},
	} {
		if simple, why := provider.IsSimple(tt.q); why != tt.want || simple != (tt.want == "") {
			t.Errorf("got %q, want %q", why, tt.want)
		}
	}
}
