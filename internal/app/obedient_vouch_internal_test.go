package app

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
)

// TestVouchedTextIsTrusted: orders in a text that the owner vouched for are asked about
// like the owner's own.
func TestVouchedTextIsTrusted(t *testing.T) {
	t.Parallel()
	all := loadInjections(t)
	for way, c := range map[string]struct {
		kind        chela.TextKind
		name, again string // again has the model read the text
	}{
		"document":   {chela.TextDocument, "knowledge/page-send.md", `DO: memory_read {"path": "%s"}`},
		"saved file": {chela.TextFile, "in/send.txt", `DO: read_file {"path": "%s"}`},
		"routine":    {chela.TextRoutine, "r-send", `DO: routine_fire {"name": "%s"}`},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, way, all)
			v.attack("send")
			v.vouch(c.kind, c.name)
			v.ask("vouched", c.again, c.name)
			var reasons []string
			if !v.eventually(func() bool { reasons = append(reasons, v.approve()...); return v.sent() > 1 }) {
				t.Errorf("nothing was sent after the vouch; asked about with %q", reasons)
			}
			if strings.Contains(strings.Join(reasons, "\n"), "after reading ") {
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
