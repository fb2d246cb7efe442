package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/app"
	"chela/internal/config"
	"chela/internal/surface/cli"
)

// askScenario posts when told to, which is asked about, and otherwise repeats.
const askScenario = `
turns:
  - when: go
    steps:
      - calls: [{tool: shell, args: {command: sleep 0}}]
      - {text: "It ran."}
  - when: /^(?i)(yes|no)$/
    steps: [{text: "You said {{user}}."}]
`

// openHome opens a new home whose model plays a scenario.
func openHome(t *testing.T, scenario string) *cli.Backend {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Input{Environ: []string{"CHELA_HOME=" + filepath.Join(dir, "home"), "CHELA_MODEL=script/" + path, neverAnew, careful}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := app.Backend(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestTextThatReadsLikeAnAnswer is one exactly when the one question that is pending
// was shown.
func TestTextThatReadsLikeAnAnswer(t *testing.T) {
	t.Parallel()
	b := openHome(t, askScenario)
	var shown []chela.ApprovalID
	say := func(id, text string) chela.Turn {
		t.Helper()
		turn, err := b.Ask(t.Context(), chela.Inbound{
			Session: "agent:main:main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: id, Text: text,
			Scope: chela.ScopeChat, Shown: shown,
		}, func(chela.Event) {})
		if err != nil {
			t.Fatalf("say %q: %v", text, err)
		}
		return turn
	}
	if before := say("1", "yes"); before.State != chela.TurnCompleted {
		t.Fatalf("an ordinary yes: %+v", before)
	}
	asked := say("2", "go")
	if asked.State != chela.TurnAwaiting {
		t.Fatalf("the turn does not wait: %+v", asked)
	}
	waiting, err := api.All(t.Context(), b, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%d questions wait: %v", len(waiting), err)
	}
	shown = []chela.ApprovalID{waiting[0].ID}
	answered := say("3", "Yes")
	if answered.ID != asked.ID || answered.State != chela.TurnCompleted {
		t.Fatalf("the answer came to %+v, want turn %s completed", answered, asked.ID)
	}
	if again := say("3", "Yes"); again.ID != asked.ID {
		t.Errorf("the same delivery again came to turn %s, want %s", again.ID, asked.ID)
	}
	if after := say("4", "yes"); after.ID == asked.ID || after.State != chela.TurnCompleted {
		t.Errorf("a yes to nothing came to %+v", after)
	}
}
