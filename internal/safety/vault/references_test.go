package vault_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/safety/vault"
)

// TestReferences: each kind of reference is resolved; a secret of the vault is used
// once for each version, and a new version takes effect in time.
func TestReferences(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	v := h.process()
	now := time.Unix(1_700_000_000, 0)
	v.Now = func() time.Time { return now }
	r := vault.NewReferences(v, vault.ReferenceConfig{
		Commands: vault.NewCommands(nil), Variable: func(name string) string { return map[string]string{"SET": "from the environment"}[name] },
	})
	check := func(reference chela.SecretReference, want string, kind chela.Kind) {
		t.Helper()
		got, err := r.Resolve(t.Context(), reference, "a test")
		if got != want || err != nil && chela.KindOf(err) != kind || err == nil && kind != "" {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
		if (r.Examine(t.Context(), reference) == nil) != (kind == "") {
			t.Errorf("%s: examined: %v", reference, r.Examine(t.Context(), reference))
		}
	}
	check("env:SET", "from the environment", "")
	check("env:NONE", "", chela.Invalid)
	check("sk-1234", "", chela.Invalid)
	check("secret:key", "", chela.NotFound)
	check("exec:echo printed", "printed", "")
	check("exec:false", "", chela.Unavailable)

	set := func(value string) {
		t.Helper()
		now = now.Add(time.Second)
		if _, err := v.Set(t.Context(), "key", api.SecretValue{Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	set("first")
	check("secret:key", "first", "")
	check("secret:key", "first", "")
	set("second")
	now = now.Add(5 * time.Second)
	check("secret:key", "second", "")
	if err := v.Delete(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	set("version 1 again")
	set("version 2 again")
	now = now.Add(5 * time.Second)
	check("secret:key", "version 2 again", "")
	set("after a refusal")
	r.Rejected("secret:key")
	check("secret:key", "after a refusal", "")
	if err := v.Delete(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(5 * time.Second)
	check("secret:key", "", chela.NotFound)
	uses, err := v.Uses(t.Context(), "key", 10)
	if err != nil || len(uses) != 4 || uses[0].Purpose != "a test" {
		t.Errorf("%+v %v", uses, err)
	}
}

// TestRejectedCommand: what a program printed is used until it is refused.
func TestRejectedCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(t.TempDir(), "value")
	r := vault.NewReferences(h.process(), vault.ReferenceConfig{Commands: vault.NewCommands(nil)})
	reference := chela.SecretReference("exec:cat " + file)
	for i, want := range []string{"old", "old", "new"} {
		if err := os.WriteFile(file, []byte([]string{"old", "new", "new"}[i]), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			r.Rejected(reference)
		}
		if got, err := r.Resolve(t.Context(), reference, ""); got != want || err != nil {
			t.Errorf("%d: %q %v", i, got, err)
		}
	}
}
