package agents_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/app/agents"
	"chela/internal/app/known"
	"chela/internal/app/providers"
	"chela/internal/config"
	"chela/internal/memory"
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

// chains is a ledger that keeps the models of each chain, and counts nothing.
type chains [][]string

func (c *chains) Meter(p chela.Provider, _ string) chela.Provider { return p }

func (c *chains) TakeOver(p chela.Provider, models ...string) chela.Provider {
	*c = append(*c, models)
	return p
}

// TestCheapModelIsLookedForWhenNeeded makes nothing of the cheap model before there
// is a summary to write, and then only where it takes prompts as large.
func TestCheapModelIsLookedForWhenNeeded(t *testing.T) {
	t.Parallel()
	for window, want := range map[string]string{"200000": "small", "1000": ""} {
		cfg, err := config.Load(config.Input{Home: t.TempDir(), ReadFile: func(string) ([]byte, error) {
			return []byte("model = \"offline/large\"\ncheap_model = \"offline/small\"\n[models.\"offline/small\"]\nwindow = " + window), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		knowledge, err := known.New(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		var made chains
		all, err := providers.New(providers.Config{Settings: cfg, Known: knowledge, Log: log, Now: time.Now, Ledger: &made})
		if err != nil {
			t.Fatal(err)
		}
		a := agents.New(agents.Config{Settings: cfg, Providers: all, Identity: func(context.Context, string, chela.SessionKey) (memory.Identity, error) {
			return memory.Identity{}, nil
		}})
		agent, err := a.Agent(t.Context(), chela.Session{Agent: "main"}, chela.Turn{Model: "offline/large"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(chains{{"offline/large"}}, made); diff != "" {
			t.Errorf("made ahead (-want +got):\n%s", diff)
		}
		if _, name := agent.Cheap(); name != want {
			t.Errorf("with a window of %s the cheap model is %q, want %q", window, name, want)
		}
	}
}
