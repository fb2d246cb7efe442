package chela

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SessionKey names a session:
//
//	agent:<agent>:main                             the main session
//	agent:<agent>:dm:<peer>                        a person, on any channel
//	agent:<agent>:<channel>:dm:<peer>              a person on one channel
//	agent:<agent>:<channel>:group:<id>             a group chat
//	agent:<agent>:<channel>:channel:<id>           a room
//	agent:<agent>:subagent:<id>                    a subagent
//	agent:<agent>:job:<id>                         a job
//	cron:<routine>                                 isolated runs of a routine
//	hook:<id>                                      isolated runs of a webhook
//
// Any of them may end in :thread:<id>, a topic or thread of the chat. Agents
// and channels are names of lower-case letters, digits, "_" and "-"; the other
// parts are escaped like URL path segments, with ":" escaped too, so equal ids
// on two channels never meet.
type SessionKey string

// MaxKeyBytes is the maximum length of a session key.
const MaxKeyBytes = 512

// KeyKind is the kind of a session key.
type KeyKind string

// The kinds of session keys.
const (
	KeyMain     KeyKind = "main"
	KeyDirect   KeyKind = "dm"
	KeyGroup    KeyKind = "group"
	KeyChannel  KeyKind = "channel"
	KeySubagent KeyKind = "subagent"
	KeyJob      KeyKind = "job"
	KeyCron     KeyKind = "cron"
	KeyHook     KeyKind = "hook"
)

// A Key is a parsed session key.
type Key struct {
	Kind    KeyKind
	Agent   string // empty for cron and hook
	Channel string // dm (optional), group, channel
	ID      string // peer, group, room, subagent, job, routine or hook; unescaped
	Thread  string // topic; unescaped; empty for none
}

// DMScope decides which direct chats of the owner share a session.
type DMScope string

// The scopes of direct chats.
const (
	ScopeMain           DMScope = "main"             // all of them share the main session
	ScopePerPeer        DMScope = "per-peer"         // one session per person
	ScopePerChannelPeer DMScope = "per-channel-peer" // one session per person and channel
)

// MainAgent is the built-in agent and the default where none is named.
const MainAgent = "main"

// MainKey returns the key of an agent's main session.
func MainKey(agent string) SessionKey { return Key{Kind: KeyMain, Agent: agent}.Session() }

// Session formats the key as one string. Parsing it returns k if k is valid.
func (k Key) Session() SessionKey {
	parts := make([]string, 0, 7)
	switch k.Kind {
	case KeyMain:
		parts = append(parts, "agent", k.Agent, "main")
	case KeyCron, KeyHook:
		parts = append(parts, string(k.Kind), escapeKeyPart(k.ID))
	case KeySubagent, KeyJob:
		parts = append(parts, "agent", k.Agent, string(k.Kind), escapeKeyPart(k.ID))
	default:
		parts = append(parts, "agent", k.Agent)
		if k.Channel != "" {
			parts = append(parts, k.Channel)
		}
		parts = append(parts, string(k.Kind), escapeKeyPart(k.ID))
	}
	if k.Thread != "" {
		parts = append(parts, "thread", escapeKeyPart(k.Thread))
	}
	return SessionKey(strings.Join(parts, ":"))
}

func escapeKeyPart(s string) string {
	return strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
}

// ParseSessionKey parses a session key. It accepts exactly the output of
// Key.Session; anything else is an Invalid error that shows the form.
func ParseSessionKey(s SessionKey) (Key, error) {
	k, ok := parseKey(string(s))
	if !ok || k.Session() != s {
		shown := string(s)
		if len(shown) > 80 || !utf8.ValidString(shown) {
			shown = fmt.Sprintf("(%d bytes)", len(s))
		}
		return Key{}, Ef(Invalid, "unknown session key %q", shown).
			WithHint("use a key such as agent:main:main or agent:main:dm:NAME (see chela sessions list)")
	}
	return k, nil
}

func parseKey(s string) (Key, bool) {
	if len(s) > MaxKeyBytes {
		return Key{}, false
	}
	parts := strings.Split(s, ":")
	var k Key
	if n := len(parts); n >= 4 && parts[n-2] == "thread" {
		var ok bool
		if k.Thread, ok = unescapeKeyPart(parts[n-1]); !ok {
			return Key{}, false
		}
		parts = parts[:n-2]
	}
	if len(parts) == 2 && (parts[0] == "cron" || parts[0] == "hook") {
		k.Kind = KeyKind(parts[0])
		var ok bool
		k.ID, ok = unescapeKeyPart(parts[1])
		return k, ok
	}
	if len(parts) < 3 || len(parts) > 5 || parts[0] != "agent" || !ValidName(parts[1]) {
		return Key{}, false
	}
	k.Agent = parts[1]
	if len(parts) == 3 {
		k.Kind = KeyMain
		return k, parts[2] == "main"
	}
	if len(parts) == 5 {
		if k.Channel = parts[2]; !ValidName(k.Channel) {
			return Key{}, false
		}
	}
	k.Kind = KeyKind(parts[len(parts)-2])
	var ok bool
	if k.ID, ok = unescapeKeyPart(parts[len(parts)-1]); !ok {
		return Key{}, false
	}
	switch k.Kind {
	case KeyDirect:
		return k, true
	case KeySubagent, KeyJob:
		return k, k.Channel == ""
	case KeyGroup, KeyChannel:
		return k, k.Channel != ""
	default:
		return Key{}, false
	}
}

func unescapeKeyPart(s string) (string, bool) {
	part, err := url.PathUnescape(s)
	if err != nil || part == "" || !utf8.ValidString(part) || strings.ContainsFunc(part, unicode.IsControl) {
		return "", false
	}
	return part, true
}

// ValidName reports whether s can name an agent, channel or provider: 1 to 64
// lower-case letters, digits, "_" and "-", beginning with a letter.
func ValidName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// IsGroup reports whether several people may speak in the session.
func (k Key) IsGroup() bool { return k.Kind == KeyGroup || k.Kind == KeyChannel }

// Class returns the class of the session's lane.
func (k Key) Class() Class {
	switch k.Kind {
	case KeyJob:
		return ClassJob
	case KeySubagent:
		return ClassSubagent
	case KeyCron, KeyHook:
		return ClassCron
	default:
		return ClassMain
	}
}
