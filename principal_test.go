package chela_test

import (
	"testing"

	"chela"
)

// TestPrincipal: whatever is unclear makes a guest, and rights never grow on the
// way from a turn to what it begins.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	const owner, group, guest = chela.PrincipalOwner, chela.PrincipalGroup, chela.PrincipalGuest
	for _, c := range []struct {
		name    string
		session chela.SessionKey
		origin  chela.Origin
		want    chela.Principal
	}{
		{"owner", "agent:main:main", chela.Origin{Channel: "terminal", Owner: true}, owner},
		{"nobody named", "agent:main:main", chela.Origin{}, guest},
		{"a stranger in the main session", "agent:main:main", chela.Origin{Channel: "telegram", Sender: "7"}, guest},
		{"a key that is none", "agent:main", chela.Origin{Owner: true}, guest},
		{"no key", "", chela.Origin{Owner: true}, guest},
		{"owner in a group", "agent:main:slack:group:7", chela.Origin{Channel: "slack", Owner: true}, group},
		{"owner in a topic of a room", "agent:main:slack:channel:7:thread:1", chela.Origin{Channel: "slack", Owner: true}, group},
		{"stranger in a group", "agent:main:slack:group:7", chela.Origin{Channel: "slack"}, group},
		{"guest's job tells a group", "agent:main:slack:group:7", chela.Origin{Owner: true, For: guest}, guest},
		{"owner's direct chat", "agent:main:telegram:dm:1", chela.Origin{Channel: "telegram", Owner: true}, owner},
		{"owner's program in the chat of a peer", "agent:main:telegram:dm:1", chela.Origin{Channel: "http", Owner: true}, guest},
		{"owner's linked chat", "agent:main:dm:ada", chela.Origin{Channel: "signal", Owner: true}, owner},
		{"guest's direct chat", "agent:main:telegram:dm:2", chela.Origin{Channel: "telegram", Sender: "2"}, guest},
		{"job of the owner", "agent:main:job:1", chela.Origin{Channel: chela.ChannelJob, Owner: true}, owner},
		{"job of a group", "agent:main:job:1", chela.Origin{Channel: chela.ChannelJob, Owner: true, For: group}, group},
		{"job of a guest", "agent:main:job:1", chela.Origin{Channel: chela.ChannelJob, For: guest}, guest},
		{"webhook of the owner's routine", "cron:rtn_1", chela.Origin{Channel: chela.ChannelRoutine, For: owner}, owner},
		{"run of nobody's routine", "cron:rtn_1", chela.Origin{Channel: chela.ChannelRoutine}, guest},
		{"for whom is unknown", "agent:main:main", chela.Origin{Owner: true, For: "admin"}, guest},
	} {
		if got := c.origin.Principal(c.session); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		carried := c.origin.ActingFor(c.origin.Principal(c.session))
		if got := carried.Principal("agent:main:job:9"); got != c.want {
			t.Errorf("%s: what it begins acts for %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPrincipalOfWhatTurnsBegin reads the rights of rows off their makers.
func TestPrincipalOfWhatTurnsBegin(t *testing.T) {
	t.Parallel()
	mine, theirs := chela.Origin{Channel: "terminal", Owner: true}, chela.Origin{Channel: "slack", Sender: "U1"}
	j := chela.Job{Session: "agent:main:job:1", Origin: mine}
	if got := j.Principal(); got != chela.PrincipalOwner {
		t.Errorf("the owner's job acts for %s", got)
	}
	j.Requester = "agent:main:slack:group:7"
	if got := j.Principal(); got != chela.PrincipalGroup {
		t.Errorf("a group's job acts for %s", got)
	}
	j.Requester, j.Origin = "", theirs
	if got := j.Principal(); got != chela.PrincipalGuest {
		t.Errorf("a guest's job acts for %s", got)
	}
	r := chela.Routine{Agent: "main", Origin: mine}
	if got := r.Principal(); got != chela.PrincipalOwner {
		t.Errorf("the owner's routine acts for %s", got)
	}
	r.Session = "agent:main:slack:group:7"
	if got := r.Principal(); got != chela.PrincipalGroup {
		t.Errorf("a group's routine acts for %s", got)
	}
}
