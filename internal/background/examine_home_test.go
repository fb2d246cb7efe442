package background_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/internal/api"
	"chela/internal/background"
	"chela/internal/config"
)

// examinedHome returns the findings about a subject of a home with these folders.
func examinedHome(t *testing.T, subject string, box api.Isolation, change func(home string)) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	change(home)
	cfg, err := config.Load(config.Input{Environ: []string{"CHELA_HOME=" + home, "CHELA_MODEL=offline/rules"}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range background.ExamineHome(t.Context(), background.Examination{Settings: cfg, Now: day, Isolation: box, Secrets: referencesOf(cfg)}) {
		if f.Subject == subject {
			lines = append(lines, map[bool]string{true: "✓ ", false: "✗ "}[f.OK]+strings.ReplaceAll(f.Text+" → "+f.Cure, home, "HOME"))
		}
	}
	return strings.Join(lines, "\n")
}

// TestExamineFolders: a folder of the home that chela cannot use is found.
func TestExamineFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, home string)
		want   string
	}{
		"well": {func(*testing.T, string) {}, "✓ HOME is writable and private → "},
		"another user": {func(t *testing.T, home string) {
			if err := os.Chown(filepath.Join(home, "run"), 1, 1); err != nil {
				t.Skip("only root gives files away")
			}
		}, "✗ HOME/run belongs to another user than HOME → chown -R --reference=HOME HOME/run"},
		"no folder": {func(t *testing.T, home string) {
			if err := os.WriteFile(filepath.Join(home, "logs"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "✗ HOME/logs is not a folder → move it away, or use another --home"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := examinedHome(t, "home", api.Isolation{}, func(home string) { c.change(t, home) }); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestExamineSandboxTiers: the line about the sandbox says whether it has namespaces.
func TestExamineSandboxTiers(t *testing.T) {
	t.Parallel()
	lines := map[string]string{}
	for _, tier := range []string{"namespaces", "landlock", "docker"} {
		box := api.Isolation{Tier: tier, Policy: "workspace_write", Network: "none", Mechanisms: []string{"seccomp filter"}}
		found := examinedHome(t, "sandbox", box, func(string) {})
		lines[tier], _, _ = strings.Cut(found, "\n")
	}
	if got := lines["landlock"]; !strings.HasPrefix(got, "✓ commands run confined, but without namespaces (landlock, ") {
		t.Errorf("landlock: %s", got)
	}
	if got := lines["namespaces"]; !strings.HasPrefix(got, "✓ commands run confined (namespaces, ") {
		t.Errorf("namespaces: %s", got)
	}
}
