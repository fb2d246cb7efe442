package chela_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
)

func TestParseSessionKey(t *testing.T) {
	t.Parallel()
	cases := []struct {
		key  chela.SessionKey
		want chela.Key
	}{
		{"agent:main:main", chela.Key{Kind: chela.KeyMain, Agent: "main"}},
		{"agent:my_agent-2:main", chela.Key{Kind: chela.KeyMain, Agent: "my_agent-2"}},
		{"agent:main:dm:alice", chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: "alice"}},
		{"agent:main:telegram:dm:42", chela.Key{Kind: chela.KeyDirect, Agent: "main", Channel: "telegram", ID: "42"}},
		{"agent:main:slack:dm:U%3A1%2F2", chela.Key{Kind: chela.KeyDirect, Agent: "main", Channel: "slack", ID: "U:1/2"}},
		{"agent:main:dm:%C3%A9lo%20die", chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: "élo die"}},
		{"agent:main:dm:thread", chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: "thread"}},
		{"agent:main:telegram:group:-100", chela.Key{Kind: chela.KeyGroup, Agent: "main", Channel: "telegram", ID: "-100"}},
		{"agent:main:discord:channel:7", chela.Key{Kind: chela.KeyChannel, Agent: "main", Channel: "discord", ID: "7"}},
		{"agent:main:subagent:7f", chela.Key{Kind: chela.KeySubagent, Agent: "main", ID: "7f"}},
		{"agent:main:job:12", chela.Key{Kind: chela.KeyJob, Agent: "main", ID: "12"}},
		{"agent:dm:dm:dm", chela.Key{Kind: chela.KeyDirect, Agent: "dm", ID: "dm"}},
		{"cron:daily", chela.Key{Kind: chela.KeyCron, ID: "daily"}},
		{"hook:build", chela.Key{Kind: chela.KeyHook, ID: "build"}},
		{"agent:main:main:thread:5", chela.Key{Kind: chela.KeyMain, Agent: "main", Thread: "5"}},
		{"agent:main:dm:alice:thread:5", chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: "alice", Thread: "5"}},
		{"agent:main:slack:channel:C1:thread:1.5", chela.Key{Kind: chela.KeyChannel, Agent: "main", Channel: "slack", ID: "C1", Thread: "1.5"}},
		{"cron:daily:thread:5", chela.Key{Kind: chela.KeyCron, ID: "daily", Thread: "5"}},
	}
	for _, c := range cases {
		t.Run(string(c.key), func(t *testing.T) {
			t.Parallel()
			got, err := chela.ParseSessionKey(c.key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("key (-want +got):\n%s", diff)
			}
			if back := got.Session(); back != c.key {
				t.Errorf("key.Session() = %q, want %q", back, c.key)
			}
		})
	}
}

func TestParseSessionKeyRefusesNearMisses(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]chela.SessionKey{
		"empty":                      "",
		"blank":                      " ",
		"no agent":                   "agent",
		"no session":                 "agent:main",
		"empty agent":                "agent::main",
		"upper case agent":           "agent:Main:main",
		"agent with dot":             "agent:a.b:main",
		"agent begins with digit":    "agent:1a:main",
		"agent too long":             chela.SessionKey("agent:" + strings.Repeat("a", 65) + ":main"),
		"upper case word":            "Agent:main:main",
		"trailing colon":             "agent:main:main:",
		"leading space":              " agent:main:main",
		"not main":                   "agent:main:mine",
		"main with more":             "agent:main:main:x",
		"unknown kind":               "agent:main:room:1",
		"empty peer":                 "agent:main:dm:",
		"empty channel":              "agent:main::dm:1",
		"upper case channel":         "agent:main:Slack:dm:1",
		"group without channel":      "agent:main:group:1",
		"room without channel":       "agent:main:channel:1",
		"job with channel":           "agent:main:slack:job:1",
		"subagent with channel":      "agent:main:slack:subagent:1",
		"unescaped colon":            "agent:main:slack:dm:U:1",
		"unescaped slash":            "agent:main:dm:a/b",
		"unescaped space":            "agent:main:dm:a b",
		"needless escape":            "agent:main:dm:%61",
		"lower case escape":          "agent:main:dm:%3a",
		"broken escape":              "agent:main:dm:%4",
		"escaped control character":  "agent:main:dm:%00",
		"escaped bytes of no letter": "agent:main:dm:%FF",
		"not UTF-8":                  "agent:main:dm:\xff",
		"empty routine":              "cron:",
		"routine with colon":         "cron:a:b",
		"thread without chat":        "thread:5",
		"empty thread":               "agent:main:main:thread:",
		"two threads":                "agent:main:main:thread:1:thread:2",
		"too long":                   chela.SessionKey("cron:" + strings.Repeat("a", chela.MaxKeyBytes)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := chela.ParseSessionKey(key)
			if err == nil {
				t.Fatalf("accepted %q as %+v", key, got)
			}
			if kind := chela.KindOf(err); kind != chela.Invalid {
				t.Errorf("kind = %q, want %q", kind, chela.Invalid)
			}
			if hint := chela.HintOf(err); !strings.Contains(hint, "agent:main:main") {
				t.Errorf("hint %q does not show a key", hint)
			}
			if msg := chela.MessageOf(err); !utf8.ValidString(msg) || len(msg) > 400 {
				t.Errorf("message cannot be shown: %q", msg)
			}
		})
	}
}

// TestKeyRoundTrip builds every valid key that rapid can think of and parses
// it again.
func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyKey(t)
		key := want.Session()
		if len(key) > chela.MaxKeyBytes {
			t.Skip("too long")
		}
		got, err := chela.ParseSessionKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", key, diff)
		}
	})
}

func anyKey(t *rapid.T) chela.Key {
	name := rapid.StringMatching(`[a-z][a-z0-9_-]{0,63}`)
	part := rapid.StringN(1, 12, -1).Filter(func(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) })
	k := chela.Key{Kind: rapid.SampledFrom([]chela.KeyKind{
		chela.KeyMain, chela.KeyDirect, chela.KeyGroup, chela.KeyChannel,
		chela.KeySubagent, chela.KeyJob, chela.KeyCron, chela.KeyHook,
	}).Draw(t, "kind")}
	if k.Kind != chela.KeyCron && k.Kind != chela.KeyHook {
		k.Agent = name.Draw(t, "agent")
	}
	if k.IsGroup() || k.Kind == chela.KeyDirect && rapid.Bool().Draw(t, "on a channel") {
		k.Channel = name.Draw(t, "channel")
	}
	if k.Kind != chela.KeyMain {
		k.ID = part.Draw(t, "id")
	}
	if rapid.Bool().Draw(t, "in a thread") {
		k.Thread = part.Draw(t, "thread")
	}
	return k
}

func FuzzParseSessionKey(f *testing.F) {
	for _, seed := range []string{
		"agent:main:main", "agent:main:telegram:dm:4%3A2", "agent:main:slack:channel:C1:thread:1.5",
		"cron:daily", "hook:", "agent:main:dm:%00", "agent:main:dm:%C3%A9", "thread:thread:thread:thread",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := chela.ParseSessionKey(chela.SessionKey(text))
		if err != nil {
			if chela.KindOf(err) != chela.Invalid || !utf8.ValidString(chela.MessageOf(err)) {
				t.Errorf("error of kind %q: %q", chela.KindOf(err), chela.MessageOf(err))
			}
			return
		}
		if back := string(k.Session()); back != text {
			t.Errorf("parsed %q and built %q", text, back)
		}
	})
}

func TestKeyTraits(t *testing.T) {
	t.Parallel()
	type traits struct {
		Group bool
		Class chela.Class
	}
	for key, want := range map[chela.SessionKey]traits{
		"agent:main:main":                {Class: chela.ClassMain},
		"agent:main:main:thread:5":       {Class: chela.ClassMain},
		"agent:main:dm:a":                {Class: chela.ClassMain},
		"agent:main:slack:group:1":       {Class: chela.ClassMain, Group: true},
		"agent:main:slack:channel:1":     {Class: chela.ClassMain, Group: true},
		"agent:main:slack:dm:1:thread:2": {Class: chela.ClassMain},
		"agent:main:subagent:1":          {Class: chela.ClassSubagent},
		"agent:main:job:1":               {Class: chela.ClassJob},
		"cron:a":                         {Class: chela.ClassCron},
		"hook:a":                         {Class: chela.ClassCron},
	} {
		t.Run(string(key), func(t *testing.T) {
			t.Parallel()
			k, err := chela.ParseSessionKey(key)
			if err != nil {
				t.Fatal(err)
			}
			got := traits{Group: k.IsGroup(), Class: k.Class()}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("traits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "main": true, "a_b-2": true, strings.Repeat("a", 64): true,
		"": false, "A": false, "2a": false, "_a": false, "-a": false, "a b": false, "a:b": false, "é": false, strings.Repeat("a", 65): false,
	} {
		if got := chela.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v, want %v", name, got, want)
		}
	}
}
