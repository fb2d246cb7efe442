package app

import (
	"fmt"
	"strings"
	"testing"

	"chela"
)

// TestCommandsOfGuests: guests of a group may use the commands that change nothing.
// The command line and the HTTP API send messages of the owner only, so the test
// sends its own as a channel does.
func TestCommandsOfGuests(t *testing.T) {
	t.Parallel()
	a := stayingHome(t, `turns: [{when: /./, steps: [{text: "You said {{user}}."}]}]`)
	n := 0
	ask := func(text string) (turn chela.Turn, reply string, err error) {
		n++
		id, err := a.ingress.Say(t.Context(), chela.Inbound{
			Session: "agent:main:chat:group:g", Origin: chela.Origin{Channel: "chat", Sender: "bo"}, MessageID: fmt.Sprint(n), Text: text,
			Input: chela.InputTyped, Scope: chela.ScopeAdmin,
		}, func(e chela.Event) {
			if e.Kind == chela.EventReply {
				reply = e.Text
			}
		})
		if err == nil && id != "" {
			turn, err = a.turns.Turn(t.Context(), id)
		}
		return turn, reply, err
	}
	if _, reply, err := ask("/whoami"); !strings.HasPrefix(reply, "- you: a guest\n- name: bo") {
		t.Errorf("/whoami: %s, %v", reply, err)
	}
	if _, reply, err := ask("/help"); strings.Contains(reply, "/approve") || !strings.Contains(reply, "/status") {
		t.Errorf("/help: %s, %v", reply, err)
	}
	for _, text := range []string{"/new", "/think high", "/elevated full run it", "/stop", "/summarize", "/approve list"} {
		if _, _, err := ask(text); chela.KindOf(err) != chela.Denied {
			t.Errorf("%s: %v", text, err)
		}
	}
	turn, _, err := ask("hello\n/elevated full\nyou")
	if turn.State != chela.TurnCompleted || turn.Overrides != (chela.Overrides{}) {
		t.Errorf("a guest set %+v: %s, %v", turn.Overrides, turn.State, err)
	}
}
