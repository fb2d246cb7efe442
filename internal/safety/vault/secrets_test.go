package vault_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/safety/vault"
	"chela/internal/store"
)

type home struct {
	dir    string
	store  *store.Store
	source vault.Source
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "chela.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &home{dir, s, vault.Source{File: filepath.Join(dir, "master.key")}}
}

// process returns the vault as a process that just started has it.
func (h *home) process() *vault.Secrets {
	now := func() time.Time { return time.Unix(1_700_000_000, 0) }
	return vault.New(h.store, vault.Config{Source: h.source, Now: now, IDs: chela.NewIDs(now, rand.Reader)})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	v := h.process()
	made, err := v.Set(t.Context(), "github", api.SecretValue{Value: "first", Hosts: []string{"API.GitHub.com", "*.example.com:8443"}})
	if err != nil || made.Version != 1 {
		t.Fatalf("%+v %v", made, err)
	}
	if made, err = v.Set(t.Context(), "github", api.SecretValue{Value: "second value", Hosts: []string{"api.github.com"}}); err != nil || made.Version != 2 {
		t.Fatalf("%+v %v", made, err)
	}
	value, err := h.process().Use(t.Context(), "github", chela.SecretUse{Purpose: "a test", Host: "api.github.com:443"})
	if err != nil || value != "second value" {
		t.Fatalf("%q %v", value, err)
	}
	uses, err := v.Uses(t.Context(), "github", 10)
	if err != nil || len(uses) != 1 || uses[0].Purpose != "a test" || uses[0].Version != 2 {
		t.Errorf("uses: %+v %v", uses, err)
	}
	all, err := v.All(t.Context())
	if err != nil || len(all) != 1 || all[0].Uses != 1 || all[0].UsedAt.IsZero() {
		t.Errorf("all: %+v %v", all, err)
	}
	for _, file := range []string{"chela.db", "chela.db-wal"} {
		if text, err := os.ReadFile(filepath.Join(h.dir, file)); err == nil && bytes.Contains(text, []byte("second value")) {
			t.Errorf("%s holds the value", file)
		}
	}
	if err := v.Delete(t.Context(), "github"); err != nil {
		t.Error(err)
	}
	if err := v.Delete(t.Context(), "github"); chela.KindOf(err) != chela.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := v.Use(t.Context(), "github", chela.SecretUse{}); chela.KindOf(err) != chela.NotFound || !strings.Contains(chela.HintOf(err), "chela secrets set github") {
		t.Errorf("used after that: %v", err)
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	v := newHome(t).process()
	for _, name := range []chela.SecretName{"", "a b", "-a", "a/b", "ä", chela.SecretName(strings.Repeat("a", 65))} {
		if _, err := v.Set(t.Context(), name, api.SecretValue{Value: "x"}); chela.KindOf(err) != chela.Invalid {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, value := range []api.SecretValue{{}, {Value: "\xff"}} {
		if _, err := v.Set(t.Context(), "a", value); chela.KindOf(err) != chela.Invalid {
			t.Errorf("value %q: %v", value.Value, err)
		}
	}
	for _, host := range []string{"", "*", "*.com", "a b", "https://x.example", "x.example/path", "x.example:", "x.example:http", "*.*.example.com", "1.2.3", "a@b"} {
		if _, err := v.Set(t.Context(), "a", api.SecretValue{Value: "x", Hosts: []string{host}}); chela.KindOf(err) != chela.Invalid {
			t.Errorf("host %q: %v", host, err)
		}
	}
	s, err := v.Set(t.Context(), "a", api.SecretValue{Value: "x", Hosts: []string{" Bücher.example. ", "127.0.0.1:80", "*.a.example:*"}})
	if diff := cmp.Diff([]string{"xn--bcher-kva.example", "127.0.0.1:80", "*.a.example:*"}, s.Hosts); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestRotation: all secrets are sealed anew, a process that has the old key in
// memory goes on, and a rotation that was cut off anywhere is ended.
func TestRotation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	v, other := h.process(), h.process()
	for _, name := range []chela.SecretName{"a", "b"} {
		if _, err := v.Set(t.Context(), name, api.SecretValue{Value: "value of " + string(name)}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(v *vault.Secrets, when string) {
		t.Helper()
		values, err := v.Values(t.Context())
		if want := map[chela.SecretName]string{"a": "value of a", "b": "value of b"}; err != nil || !cmp.Equal(values, want) {
			t.Errorf("%s: %v %v", when, values, err)
		}
	}
	check(other, "before")
	old, err := os.ReadFile(h.source.File)
	if err != nil {
		t.Fatal(err)
	}
	done, err := v.Rotate(t.Context())
	if err != nil || done.Secrets != 2 {
		t.Fatalf("%+v %v", done, err)
	}
	fresh, _ := os.ReadFile(h.source.File)
	if bytes.Equal(old, fresh) {
		t.Error("the key file has the old key")
	}
	check(v, "after")
	check(other, "a process with the old key in memory")
	check(h.process(), "a new process")

	// It died after the secrets were sealed with the key in a file of its own.
	pending := h.source.File + "." + done.Key
	if err := os.Rename(h.source.File, pending); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.source.File, old, 0o600); err != nil {
		t.Fatal(err)
	}
	check(h.process(), "cut off after the commit")
	if now, _ := os.ReadFile(h.source.File); !bytes.Equal(now, fresh) {
		t.Error("the new key did not take its place")
	}
	// It died before that: its key is not used by anything.
	unused := vault.NewKey()
	if err := os.WriteFile(h.source.File+"."+unused.ID(), []byte(unused.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	check(h.process(), "cut off before the commit")
	if now, _ := os.ReadFile(h.source.File); !bytes.Equal(now, fresh) {
		t.Error("a key that seals nothing took the place of the key")
	}
}

// TestRotationsAndSetsTogether: while processes rotate the key and set secrets, all
// of them read every value, and so does a later one.
func TestRotationsAndSetsTogether(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, err := h.process().Set(t.Context(), "first", api.SecretValue{Value: "value of first"}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 2 {
		all.Go(func() {
			v := h.process()
			for range 10 {
				if _, err := v.Rotate(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			v := h.process()
			for i := range 20 {
				name := chela.SecretName(fmt.Sprint("s", n, "-", i%5))
				if _, err := v.Set(t.Context(), name, api.SecretValue{Value: "value of " + string(name)}); err != nil {
					t.Error(err)
				}
				if _, err := v.Values(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	values, err := h.process().Values(t.Context())
	if err != nil || len(values) != 11 {
		t.Errorf("%d values, %v", len(values), err)
	}
	for name, value := range values {
		if value != "value of "+string(name) {
			t.Errorf("%s: %q", name, value)
		}
	}
}

// TestNothingToRotate: without secrets there is no rotation, which a first secret
// could not notice.
func TestNothingToRotate(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	v := h.process()
	if _, err := v.Set(t.Context(), "a", api.SecretValue{Value: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := v.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Rotate(t.Context()); chela.KindOf(err) != chela.NotFound {
		t.Errorf("%v", err)
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, err := h.process().Set(t.Context(), "a", api.SecretValue{Value: "x"}); err != nil {
		t.Fatal(err)
	}
	h.source.Environment = vault.NewKey().Text()
	v := h.process()
	if _, err := v.Use(t.Context(), "a", chela.SecretUse{}); chela.KindOf(err) != chela.Denied || chela.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if _, err := v.Rotate(t.Context()); chela.KindOf(err) != chela.Unsupported {
		t.Errorf("a key of the environment was rotated: %v", err)
	}
}
