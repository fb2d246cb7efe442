package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/session"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	links := map[string]string{"telegram:1": "alice", "bob@x": "bob"}
	for _, c := range []struct {
		name  string
		scope chela.DMScope
		from  api.Sender
		want  chela.SessionKey
	}{
		{"main", chela.ScopeMain, api.Sender{Channel: "telegram", Peer: "1", Owner: true}, "agent:main:main"},
		{"main, a topic", chela.ScopeMain, api.Sender{Channel: "slack", Peer: "U1", Thread: "17.5", Owner: true}, "agent:main:main:thread:17.5"},
		{"main, a stranger", chela.ScopeMain, api.Sender{Channel: "telegram", Peer: "2"}, "agent:main:telegram:dm:2"},
		{"main, a stranger in a topic", chela.ScopeMain, api.Sender{Channel: "slack", Peer: "U1", Thread: "17.5"}, "agent:main:slack:dm:U1:thread:17.5"},
		{"main, a stranger who is linked", chela.ScopeMain, api.Sender{Channel: "telegram", Peer: "1"}, "agent:main:dm:alice"},
		{"no scope, a stranger", "", api.Sender{Channel: "telegram", Peer: "main"}, "agent:main:telegram:dm:main"},
		{"per peer", chela.ScopePerPeer, api.Sender{Channel: "telegram", Peer: "2", Owner: true}, "agent:main:dm:2"},
		{"per peer, a stranger", chela.ScopePerPeer, api.Sender{Channel: "telegram", Peer: "2"}, "agent:main:telegram:dm:2"},
		{"per peer, linked", chela.ScopePerPeer, api.Sender{Channel: "telegram", Peer: "1"}, "agent:main:dm:alice"},
		{"per channel and peer", chela.ScopePerChannelPeer, api.Sender{Channel: "signal", Peer: "1"}, "agent:main:signal:dm:1"},
		{"per channel and peer, linked everywhere", chela.ScopePerChannelPeer, api.Sender{Channel: "mail", Peer: "bob@x"}, "agent:main:dm:bob"},
		{"group", chela.ScopeMain, api.Sender{Channel: "telegram", Peer: "1", Group: "-5"}, "agent:main:telegram:group:-5"},
		{"the same group elsewhere", chela.ScopeMain, api.Sender{Channel: "signal", Peer: "1", Group: "-5"}, "agent:main:signal:group:-5"},
		{"room with a topic", chela.ScopeMain, api.Sender{Channel: "slack", Peer: "U1", Room: "C:1", Thread: "a/b"}, "agent:main:slack:channel:C%3A1:thread:a%2Fb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.from.Account = "work"
			got, err := session.Scopes{DM: c.scope, Links: links}.Place(chela.Inbound{Agent: "main", Text: "hi"}, c.from)
			if err != nil {
				t.Fatal(err)
			}
			origin := chela.Origin{Channel: c.from.Channel, Account: "work", To: c.from.Peer, Thread: c.from.Thread, Sender: c.from.Peer, Owner: c.from.Owner}
			if c.from.Group+c.from.Room != "" {
				origin.To = c.from.Group + c.from.Room
			}
			if diff := cmp.Diff(chela.Inbound{Agent: "main", Text: "hi", Session: c.want, Origin: origin}, got); diff != "" {
				t.Errorf("placed (-want +got):\n%s", diff)
			}
			if _, err := chela.ParseSessionKey(got.Session); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	t.Parallel()
	well := api.Sender{Channel: "telegram", Peer: "1"}
	for name, c := range map[string]struct {
		in   chela.Inbound
		from func(*api.Sender)
		says string
	}{
		"a session":      {chela.Inbound{Session: "agent:main:main"}, func(*api.Sender) {}, "both a session and a sender"},
		"a thread":       {chela.Inbound{Thread: "thr_1"}, func(*api.Sender) {}, "both a session and a sender"},
		"no channel":     {chela.Inbound{}, func(s *api.Sender) { s.Channel = "" }, "is not a channel name"},
		"bad channel":    {chela.Inbound{}, func(s *api.Sender) { s.Channel = "A:b" }, "is not a channel name"},
		"own channel":    {chela.Inbound{}, func(s *api.Sender) { s.Channel = "terminal" }, "a channel of chela itself"},
		"nobody":         {chela.Inbound{}, func(s *api.Sender) { s.Peer = "" }, "has no sender"},
		"two places":     {chela.Inbound{}, func(s *api.Sender) { s.Group, s.Room = "g", "r" }, "both a group and a room"},
		"control":        {chela.Inbound{}, func(s *api.Sender) { s.Peer = "a\nb" }, "an id in from is invalid"},
		"not UTF-8":      {chela.Inbound{}, func(s *api.Sender) { s.Group = "\xff" }, "an id in from is invalid"},
		"a long account": {chela.Inbound{}, func(s *api.Sender) { s.Account = strings.Repeat("a", 101) }, "an id in from is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := well
			c.from(&from)
			_, err := session.Scopes{}.Place(c.in, from)
			if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}
