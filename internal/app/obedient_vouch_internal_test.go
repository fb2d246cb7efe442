package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
)

// TestVouchedTextIsTrusted: orders in a text that the owner vouched for are asked about
// like the owner's own, and those of the next version like a page's again.
func TestVouchedTextIsTrusted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "obedient.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all injections
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for way, c := range map[string]struct {
		kind chela.TextKind
		name string
	}{
		"document":   {chela.TextDocument, "knowledge/page-send.md"},
		"saved file": {chela.TextFile, "in/send.txt"},
		"routine":    {chela.TextRoutine, "r-send"},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, way, all)
			v.attack("send")
			v.vouch(c.kind, c.name)
			again := func(session string) (reasons []string) {
				switch c.kind {
				case chela.TextDocument:
					v.ask(session, `DO: memory_read {"path": "%s"}`, c.name)
				case chela.TextFile:
					v.ask(session, `DO: read_file {"path": "%s"}`, c.name)
				default:
					v.ask(session, `DO: routine_fire {"name": "%s"}`, c.name)
				}
				if !v.eventually(func() bool { reasons = append(reasons, v.approve()...); return v.sent() > 1 }) {
					t.Errorf("nothing was sent after the vouch; asked about with %q", reasons)
				}
				return reasons
			}
			if reasons := again("vouched"); strings.Contains(strings.Join(reasons, "\n"), "after reading ") {
				t.Errorf("asked about with %q after the vouch", reasons)
			}
		})
	}
}

// vouch vouches for the present version of a text.
func (v *victim) vouch(kind chela.TextKind, name string) {
	v.Helper()
	conn := api.Local{Operations: v.operations, Caller: api.Caller{By: "test"}}
	shown, err := api.Call(v.Context(), conn, api.TrustShow, api.TextRef{Kind: kind, Name: name})
	if err != nil {
		v.Fatal(err)
	}
	if !shown.Provenance.BelowFolder() {
		v.Errorf("%s %s has the label %+v", kind, name, shown.Provenance)
	}
	request := api.VouchRequest{Kind: kind, Vouch: api.NewVouch{Name: name, Version: shown.Version}}
	if _, err := api.Call(v.Context(), conn, api.TrustVouch, request); err != nil {
		v.Fatal(err)
	}
}

// sent returns the number of messages of the effect send.
func (v *victim) sent() (n int) {
	v.Helper()
	told, err := v.background.Notices().Pending(v.Context(), api.SocketChannel)
	if err != nil {
		v.Fatal(err)
	}
	for _, o := range told {
		if o.To.To == "mallory" {
			n++
		}
	}
	return n
}
