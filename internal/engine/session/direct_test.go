package session_test

import (
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/session"
)

func TestKeysOfDirectChats(t *testing.T) {
	t.Parallel()
	links := map[string]string{"telegram:42": "alice", "U1": "alice"}
	const linked = "agent:main:dm:alice"
	cases := []struct {
		name          string
		scope         chela.DMScope
		channel, peer string
		owner, other  chela.SessionKey // the session of the peer as the owner, and as anybody else
	}{
		{"all in one", chela.ScopeMain, "telegram", "7", "agent:main:main", "agent:main:telegram:dm:7"},
		{"all in one, linked", chela.ScopeMain, "telegram", "42", "agent:main:main", linked},
		{"no scope", "", "telegram", "7", "agent:main:main", "agent:main:telegram:dm:7"},
		{"unknown scope", "all", "telegram", "7", "agent:main:main", "agent:main:telegram:dm:7"},
		{"per peer", chela.ScopePerPeer, "telegram", "7", "agent:main:dm:7", "agent:main:telegram:dm:7"},
		{"per peer, linked", chela.ScopePerPeer, "telegram", "42", linked, linked},
		{"per peer, linked by bare id", chela.ScopePerPeer, "slack", "U1", linked, linked},
		{"per peer, same id elsewhere", chela.ScopePerPeer, "slack", "42", "agent:main:dm:42", "agent:main:slack:dm:42"},
		{"per channel", chela.ScopePerChannelPeer, "telegram", "7", "agent:main:telegram:dm:7", "agent:main:telegram:dm:7"},
		{"per channel, linked", chela.ScopePerChannelPeer, "telegram", "42", linked, linked},
		{"per channel, same id elsewhere", chela.ScopePerChannelPeer, "slack", "7", "agent:main:slack:dm:7", "agent:main:slack:dm:7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for owner, want := range map[bool]chela.SessionKey{true: c.owner, false: c.other} {
				s := session.Scopes{DM: c.scope, Links: links}
				got, err := s.Place(chela.Inbound{Agent: "main"}, api.Sender{Channel: c.channel, Peer: c.peer, Owner: owner})
				if got.Session != want || err != nil {
					t.Errorf("key of the owner (%t) = %q, %v, want %q", owner, got.Session, err, want)
				}
			}
		})
	}
}
