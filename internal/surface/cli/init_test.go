package cli_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

func TestFirstToken(t *testing.T) {
	t.Parallel()
	h := &home{}
	if got := h.run(t, "", "init", "--yes", "--json"); !strings.Contains(got.out, `"token": "secret-1"`) {
		t.Errorf("the first time: %+v", got)
	}
	want := []chela.Token{{ID: "tok_1", Name: "first", Scope: chela.ScopeAdmin, CreatedAt: day}}
	if diff := cmp.Diff(want, h.tokens); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"main"}, h.seeded); diff != "" {
		t.Errorf("agents with first documents (-want +got):\n%s", diff)
	}
	if got := h.run(t, "", "init", "--yes", "--json"); strings.Contains(got.out, `"token"`) || len(h.tokens) != 1 {
		t.Errorf("the second time: %+v", got)
	}
	h.run(t, "", "tokens", "revoke", "tok_1")
	if got := h.run(t, "", "init", "--yes"); !strings.Contains(got.out, "secret-2") {
		t.Errorf("after it was revoked: %+v", got)
	}
}

func TestInitNeedsATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := (&home{}).runIn(t, dir, "", "init")
	want := result{2, "", "chela: chela init asks questions, and standard input is not a terminal; take the defaults with chela init --yes, or choose with --provider, --base-url and --model\n"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(config.Home(dir).ConfigFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}
