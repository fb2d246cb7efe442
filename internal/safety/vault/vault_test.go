package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"chela"
	"chela/internal/safety/vault"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	k := vault.NewKey()
	value := []byte("a secret")
	sealed, err := k.Seal("github", 3, value)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open("github", 3, sealed); err != nil || !bytes.Equal(got, value) {
		t.Fatalf("%q, %v", got, err)
	}
	again, _ := k.Seal("github", 3, value)
	if bytes.Equal(again, sealed) || bytes.Contains(sealed, value) {
		t.Error("sealed values are equal, or hold the value")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := k.Open("github", 3, changed); chela.KindOf(err) != chela.Denied {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for name, open := range map[string]func() ([]byte, error){
		"another name":    func() ([]byte, error) { return k.Open("gitlab", 3, sealed) },
		"another version": func() ([]byte, error) { return k.Open("github", 2, sealed) },
		"another key":     func() ([]byte, error) { return vault.NewKey().Open("github", 3, sealed) },
		"nothing":         func() ([]byte, error) { return k.Open("github", 3, nil) },
	} {
		if got, err := open(); chela.KindOf(err) != chela.Denied || strings.Contains(fmt.Sprint(err), "a secret") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); strings.Contains(text, k.Text()) {
		t.Error("a printed key tells itself")
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	k := vault.NewKey()
	for _, text := range []string{k.Text(), k.Text() + "\n", strings.TrimRight(k.Text(), "=")} {
		if got, err := vault.ParseKey(text); err != nil || got != k {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := vault.ParseKey(strings.Repeat("0f", 32)); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "password", strings.Repeat("0f", 31), k.Text() + "AAAA"} {
		if _, err := vault.ParseKey(text); chela.KindOf(err) != chela.Invalid || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A memory is a keyring.
type memory struct {
	text string
	err  error
	hang chan struct{}
}

func (m *memory) Get(string, string) (string, error) {
	if m.hang != nil {
		<-m.hang
	}
	if m.err == nil && m.text == "" {
		return "", keyring.ErrNotFound
	}
	return m.text, m.err
}

func (m *memory) Set(_, _, password string) error {
	if m.err == nil {
		m.text = password
	}
	return m.err
}

func TestSources(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "master.key")
	ring := &memory{err: errors.New("no D-Bus")}
	s := vault.Source{File: file, Keyring: ring}
	if _, _, err := s.Load(t.Context()); chela.KindOf(err) != chela.NotFound {
		t.Errorf("an empty home: %v", err)
	}
	k, place, err := s.LoadOrCreate(t.Context())
	if err != nil || place != vault.InFile {
		t.Fatalf("%v %v", place, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v %v", info, err)
	}
	if got, _, err := s.LoadOrCreate(t.Context()); err != nil || got != k {
		t.Errorf("a second time: %v", err)
	}
	other := vault.NewKey()
	fromEnv := s
	fromEnv.Environment = other.Text()
	if got, place, err := fromEnv.Load(t.Context()); err != nil || got != other || place != vault.InEnvironment {
		t.Errorf("environment: %v %v", place, err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.LoadOrCreate(t.Context()); chela.KindOf(err) != chela.Denied {
		t.Errorf("a key file that others can read: %v", err)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.LoadOrCreate(t.Context()); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a broken key file: %v", err)
	}
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "master.key")
	ring := &memory{}
	s := vault.Source{File: file, Keyring: ring, Prefer: "keyring"}
	k, place, err := s.LoadOrCreate(t.Context())
	if err != nil || place != vault.InKeyring || ring.text != k.Text() {
		t.Fatalf("%v %v", place, err)
	}
	if got, place, err := s.LoadOrCreate(t.Context()); err != nil || got != k || place != vault.InKeyring {
		t.Errorf("a second time: %v %v", place, err)
	}
	hung := s
	hung.Keyring = &memory{hang: make(chan struct{})}
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, _, err := hung.Load(soon); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a keyring that does not answer: %v", err)
	}
}

// TestOneKeyIsMade: processes that start together agree on one key.
func TestOneKeyIsMade(t *testing.T) {
	t.Parallel()
	s := vault.Source{File: filepath.Join(t.TempDir(), "master.key")}
	keys := make([]vault.Key, 16)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], _, err = s.LoadOrCreate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Fatal("two keys")
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := filepath.Join(dir, "op")
	script := "#!/bin/sh\necho run >> " + dir + "/log\nprintf '%s\\n' \"secret of $2\"\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	c := vault.NewCommands(nil)
	for range 2 {
		got, err := c.Resolve(t.Context(), tool+` read "op://a b/item"`)
		if err != nil || got != "secret of op://a b/item" {
			t.Fatalf("%q %v", got, err)
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	if n := strings.Count(string(log), "run"); n != 1 {
		t.Errorf("the program ran %d times", n)
	}
	c.Forget(tool + ` read "op://a b/item"`)
	if _, err := c.Resolve(t.Context(), tool+` read "op://a b/item"`); err != nil {
		t.Error(err)
	}
	if log, _ := os.ReadFile(filepath.Join(dir, "log")); strings.Count(string(log), "run") != 2 {
		t.Errorf("a forgotten result was used: %q", log)
	}
	for _, command := range []string{"", "a | b", "a $HOME", "a $(b)", "a; b", "A=1 a", "a > b", "a `b`", "a &", "! a", `a "$b"`, "a $'x'"} {
		if _, err := c.Resolve(t.Context(), command); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%q: %v", command, err)
		}
	}
	for _, command := range []string{"false", "true", filepath.Join(dir, "none"), "head -c 100000 /dev/zero", tool + " 'a\nb' 'a\nb'"} {
		if _, err := c.Resolve(t.Context(), command); chela.KindOf(err) != chela.Unavailable {
			t.Errorf("%q: %v", command, err)
		}
	}
}
