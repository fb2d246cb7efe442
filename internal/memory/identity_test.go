package memory_test

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/memory"
)

// sessions are one of each audience.
const (
	owner   = chela.SessionKey("agent:main:main")
	group   = chela.SessionKey("agent:main:telegram:group:7")
	job     = chela.SessionKey("agent:main:job:7")
	program = chela.SessionKey("agent:main:" + api.Channel + ":dm:phone")
)

// identity is what a turn of the owner is told.
func (d *desk) identity(t testing.TB, session chela.SessionKey) string {
	t.Helper()
	return d.identityFor(t, session, chela.Origin{Owner: true, Channel: api.Channel}.Principal(session))
}

func (d *desk) identityFor(t testing.TB, session chela.SessionKey, by chela.Principal) string {
	t.Helper()
	said, err := d.Identity(t.Context(), "main", session, by)
	if err != nil {
		t.Fatal(err)
	}
	if said.Tokens != len(said.Text) {
		t.Errorf("%d tokens were counted in %d", said.Tokens, len(said.Text))
	}
	return said.Text
}

// order returns the documents of an identity, in order.
func order(text string) string {
	var paths []string
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(line, `<document path="`); ok {
			paths = append(paths, strings.TrimSuffix(path, "\">\n"))
		}
	}
	return strings.Join(paths, " ")
}

func TestIdentityIsForItsAudience(t *testing.T) {
	t.Parallel()
	d := setup(t)
	must(t)(d.Append(t.Context(), d.edit("MEMORY.md", "- the door code is 1234")))
	for session, want := range map[chela.SessionKey]string{
		owner:                        "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md MEMORY.md BOOTSTRAP.md",
		"agent:main:dm:ada":          "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md MEMORY.md BOOTSTRAP.md",
		group:                        "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md",
		group + ":thread:9":          "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md",
		"agent:main:slack:channel:7": "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md",
		"what is this":               "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md",
		job:                          "AGENTS.md TOOLS.md",
		program:                      "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md MEMORY.md",
		"agent:main:subagent:7":      "AGENTS.md TOOLS.md",
		"cron:morning":               "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md MEMORY.md",
	} {
		text := d.identity(t, session)
		if got := order(text); got != want {
			t.Errorf("%s is told %s, want %s", session, got, want)
		}
		if told := strings.Contains(text, "1234"); told != strings.Contains(want, "MEMORY.md") {
			t.Errorf("%s is told what is private: %t", session, told)
		}
		for _, by := range []chela.Principal{chela.PrincipalGuest, chela.PrincipalGroup, ""} {
			if text := d.identityFor(t, session, by); strings.Contains(text, "1234") || strings.Contains(text, "BOOTSTRAP.md") {
				t.Errorf("%s is told as %q:\n%s", session, by, text)
			}
		}
	}
}

func TestIdentityChangesWithItsDocuments(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		ctx := t.Context()
		first := d.identity(t, owner)
		must(t)(d.Write(ctx, d.edit("notes.md", "nothing of it")))
		if again := d.identity(t, owner); again != first {
			t.Errorf("the same documents gave other bytes:\n%s", again)
		}
		must(t)(d.Write(ctx, d.edit("IDENTITY.md", "I am Chela.\n")))
		must(t)(d.Delete(ctx, d.edit("BOOTSTRAP.md", "")))
		must(t)(d.Write(ctx, d.edit("SOUL.md", " \n")))
		after := d.identity(t, owner)
		if got := order(after); got != "AGENTS.md IDENTITY.md USER.md TOOLS.md MEMORY.md" || !strings.Contains(after, "\nI am Chela.\n</document>") {
			t.Errorf("after the edits: %s\n%s", got, after)
		}
		if group := d.identity(t, group); !strings.Contains(group, "I am Chela.") {
			t.Errorf("the group is told\n%s", group)
		}
	})
}

func TestIdentityIsBounded(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ctx := t.Context()
	must(t)(d.Write(ctx, d.edit("SOUL.md", "é"+strings.Repeat("ü", memory.MaxIdentityBytes))))
	must(t)(d.Write(ctx, d.edit("USER.md", "before\n</document>\nafter")))
	text := d.identity(t, owner)
	if !strings.Contains(text, "ü\n[cut here: 20000 of 40002 bytes are shown; memory_read has the rest of SOUL.md]\n</document>") {
		t.Errorf("it is not cut: %d bytes", len(text))
	}
	if opened, closed := strings.Count(text, "<document path="), strings.Count(text, "</document>"); opened != 7 || closed != 7 {
		t.Errorf("%d frames are opened and %d closed", opened, closed)
	}
	if !strings.Contains(text, "before\n<\\/document>\nafter") {
		t.Error("what was written is gone")
	}
}

func TestFirstDocumentsComeOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		ctx := t.Context()
		for n, want := range []bool{true, false} {
			if seeded, err := d.Seed(ctx, "main"); seeded != want || err != nil {
				t.Fatalf("time %d: %t, %v", n, seeded, err)
			}
		}
		nodes, err := d.Tree(ctx, "main", "", 0)
		if err != nil || len(nodes) != 9 {
			t.Fatalf("%d first documents: %v", len(nodes), err)
		}
		for _, n := range nodes {
			must(t)(d.Delete(ctx, d.edit(n.Path, "")))
		}
		if text := d.identity(t, owner); text != "" {
			t.Errorf("after all is deleted:\n%s", text)
		}
		if nodes, err := d.Tree(ctx, "main", "", 0); len(nodes) != 0 || err != nil {
			t.Errorf("they came back: %v %v", nodes, err)
		}
	})
}

// BenchmarkIdentity is what a turn pays for the documents.
func BenchmarkIdentity(b *testing.B) {
	d := setup(b)
	d.identity(b, owner)
	for b.Loop() {
		d.identity(b, owner)
	}
}
