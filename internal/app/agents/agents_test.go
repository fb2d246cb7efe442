package agents_test

import (
	"testing"

	"chela"
	"chela/internal/app/agents"
	"chela/internal/config"
)

// TestTurnModel sends simple messages to the cheap model, if that is wanted and
// nobody chose another.
func TestTurnModel(t *testing.T) {
	t.Parallel()
	const models = "model = \"offline/large\"\ncheap_model = \"offline/small\"\n"
	session := func(model string) chela.Session {
		return chela.Session{Agent: "main", Settings: chela.Settings{Model: model}}
	}
	say := func(text, model string) []chela.Waiting {
		return []chela.Waiting{{Inbound: chela.Inbound{Text: text, Model: model}}}
	}
	for _, tt := range []struct {
		name     string
		settings string
		session  chela.Session
		entries  int64
		messages []chela.Waiting
		want     string
	}{
		{"off", models, session(""), 0, say("hello", ""), "offline/large"},
		{"simple", models + "routing.smart = true", session(""), 2, say("hello", ""), "offline/small"},
		{"work", models + "routing.smart = true", session(""), 2, say("run it", ""), "offline/large"},
		{"more than one", models + "routing.smart = true", session(""), 0, append(say("hello", ""), say("run it", "")...), "offline/large"},
		{"long thread", models + "routing.smart = true", session(""), 200, say("hello", ""), "offline/large"},
		{"chosen for the message", models + "routing.smart = true", session(""), 0, say("hello", "offline/own"), "offline/own"},
		{"chosen for the session", models + "routing.smart = true", session("offline/own"), 0, say("hello", ""), "offline/own"},
		{"no cheap model", "routing.smart = true", session(""), 0, say("hello", ""), "offline/rules"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Load(config.Input{Home: t.TempDir(), ReadFile: func(string) ([]byte, error) { return []byte(tt.settings), nil }})
			if err != nil {
				t.Fatal(err)
			}
			a := agents.New(agents.Config{Settings: cfg})
			if got := a.TurnModel(tt.session, chela.Thread{Seq: tt.entries}, tt.messages); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
