package agents_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/providertest"
)

// A vault holds the secrets that references stand for, and what happens to them.
type vault struct {
	mu       sync.Mutex
	secrets  map[chela.SecretReference]string
	rejected []chela.SecretReference
	purposes []string
}

func (v *vault) Resolve(_ context.Context, r chela.SecretReference, purpose string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.purposes = append(v.purposes, purpose)
	if value := v.secrets[r]; value != "" {
		return value, nil
	}
	return "", chela.E(chela.NotFound, "there is no secret").WithHint("set it")
}

func (v *vault) Rejected(r chela.SecretReference) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rejected = append(v.rejected, r)
}

// TestKeyOfReference: a key that is a reference is looked up for each request, so
// that a changed one takes effect at once; a missing one is said once, and a refused
// one is asked for again.
func TestKeyOfReference(t *testing.T) {
	t.Parallel()
	h := newHome(t, all(good, good, good), all(good))
	h.text = strings.NewReplacer(`api_key = "env:KEY"`, `api_key = "secret:key"`).Replace(h.text)
	p := h.open(t, "")
	a, _, err := p.Serve("a/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, a, "m"); chela.KindOf(err) != chela.NotFound && chela.KindOf(err) != chela.Denied || !strings.Contains(err.Error(), "there is no secret") {
		t.Errorf("no secret: %v", err)
	}
	if len(h.waited) > 0 || h.asked() != "a 0, b 0" {
		t.Errorf("without a key: %s, after waiting %v", h.asked(), h.waited)
	}
	h.vault.secrets = map[chela.SecretReference]string{"secret:key": providertest.Key}
	again, _, err := p.Serve("a/m")
	if err != nil {
		t.Fatal(err)
	}
	if said, _, err := ask(t, again, "m"); said != "hello" || err != nil {
		t.Errorf("with it: %q, %v", said, err)
	}
	if diff := cmp.Diff([]string{"the key of provider a", "the key of provider a"}, h.vault.purposes); diff != "" {
		t.Errorf("purposes (-want +got):\n%s", diff)
	}
}

// TestRefusedKeyOfCommand: the key that a password manager printed is refused, and
// asked for again.
func TestRefusedKeyOfCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t, all(providertest.Answer{Fault: providertest.FaultKey}, good), all(good))
	h.vault.secrets = map[chela.SecretReference]string{"exec:print key": providertest.Key}
	h.text = strings.ReplaceAll(h.text, `api_key = "env:KEY"`, `api_key = "exec:print key"`)
	p := h.open(t, "")
	for _, want := range []string{"", "hello"} {
		a, _, err := p.Serve("a/m")
		if err != nil {
			t.Fatal(err)
		}
		said, _, err := ask(t, a, "m")
		if said != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), providertest.Key) {
			t.Errorf("%q, %v", said, err)
		}
		if diff := cmp.Diff([]chela.SecretReference{"exec:print key"}, h.vault.rejected); diff != "" {
			t.Errorf("rejected (-want +got):\n%s", diff)
		}
	}
}
