package lane

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		mode    chela.QueueMode
		waiting string
		limit   int
		drop    chela.QueueDrop
		want    []int
		refused bool
	}{
		{"room", chela.QueueCollect, "- - -", 3, chela.DropOld, nil, false},
		{"old", chela.QueueCollect, "- - -", 2, chela.DropOld, []int{0}, false},
		{"summarize", chela.QueueFollowup, "- - -", 2, chela.DropSummarize, []int{0}, false},
		{"new", chela.QueueCollect, "- - -", 2, chela.DropNew, nil, true},
		{"steer", chela.QueueSteer, "- - -", 2, chela.DropOld, []int{0}, false},
		{"steer-backlog", chela.QueueSteerBacklog, "- - -", 2, chela.DropOld, []int{0}, false},
		{"interrupt", chela.QueueInterrupt, "- - -", 2, chela.DropOld, []int{0}, false},
		{"queue", chela.QueuePlain, "- - -", 2, chela.DropOld, nil, true},
		{"the cap was lowered", chela.QueueCollect, "- - - - -", 2, chela.DropOld, []int{0, 1, 2}, false},
		{"those of queue stay", chela.QueueCollect, "queue - -", 2, chela.DropOld, []int{1}, false},
		{"only those of queue", chela.QueueCollect, "queue queue -", 2, chela.DropSummarize, nil, true},
		{"one alone", chela.QueueCollect, "- -", 1, chela.DropOld, []int{0}, false},
		{"announcements do not count", chela.QueueCollect, "- -,never -,never -", 3, chela.DropNew, nil, false},
		{"announcements stay", chela.QueueCollect, "-,never - -", 1, chela.DropOld, []int{1}, false},
		{"an announcement is not refused", chela.QueueCollect, "- - -,never", 1, chela.DropNew, nil, false},
		{"an announcement drops none", chela.QueueCollect, "- - -,never", 1, chela.DropOld, nil, false},
		{"an announcement behind those of queue", chela.QueuePlain, "- - -,never", 1, chela.DropNew, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := waiting(c.mode, c.waiting)
			for i := range all {
				all[i].Queue.Cap = c.limit
				if all[i].Queue.Drop != chela.DropNever {
					all[i].Queue.Drop = c.drop
				}
			}
			got, err := overflow(all)
			if (chela.KindOf(err) == chela.Exhausted) != c.refused || err != nil && !c.refused {
				t.Errorf("error %v, want a refusal: %t", err, c.refused)
			}
			if want := fmt.Sprintf("%d messages already wait in this session", len(all)-1); c.refused && !strings.HasPrefix(chela.MessageOf(err), want) {
				t.Errorf("error %q, want one that says %q", err, want)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRoomOfTheNewest lets the settings of the newest message decide.
func TestRoomOfTheNewest(t *testing.T) {
	t.Parallel()
	all := waiting(chela.QueueCollect, "- - -")
	all[2].Queue.Cap = 2
	got, err := overflow(all)
	if diff := cmp.Diff([]int{0}, got); diff != "" || err != nil {
		t.Errorf("error %v, dropped (-want +got):\n%s", err, diff)
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	said := func(text string) (m chela.InboxMessage) {
		m.Text, m.Origin.Owner = text, true
		return m
	}
	guest := said("hi")
	guest.Origin = chela.Origin{Sender: "ann"}
	files := said("")
	files.Attachments = []chela.Attachment{{Name: "a.png"}, {Name: "b.png"}}
	many := said("look")
	for _, name := range strings.Fields("1 2 3 4 5 6") {
		many.Attachments = append(many.Attachments, chela.Attachment{Name: name})
	}
	for _, c := range []struct {
		name   string
		newest []chela.InboxMessage
		all    int
		want   string
	}{
		{"one", []chela.InboxMessage{said("buy\n  milk")}, 1, "One message sent while you were busy had to be dropped, since too many waited. In short:\n- buy milk"},
		{
			"of others, with files",
			[]chela.InboxMessage{guest, files},
			2,
			"2 messages sent while you were busy had to be dropped, since too many waited. In short:\n- ann: hi\n- [attached: a.png, b.png]",
		},
		{
			"of one file",
			[]chela.InboxMessage{{Inbound: chela.Inbound{Attachments: files.Attachments[:1], Origin: files.Origin}}},
			1,
			"One message sent while you were busy had to be dropped, since too many waited. In short:\n- [attached: a.png]",
		},
		{
			"with more files than are named",
			[]chela.InboxMessage{many},
			1,
			"One message sent while you were busy had to be dropped, since too many waited. In short:\n- look [attached: 1, 2, 3, 4, 5]",
		},
		{
			"one more than are told",
			[]chela.InboxMessage{said("x")},
			2,
			"2 messages sent while you were busy had to be dropped, since too many waited. In short:\n- (1 older ones are left out)\n- x",
		},
		{
			"more than are told",
			[]chela.InboxMessage{said("x")},
			9,
			"9 messages sent while you were busy had to be dropped, since too many waited. In short:\n- (8 older ones are left out)\n- x",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, droppedNote(c.newest, c.all)); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
	long := make([]chela.InboxMessage, maxNoteLines)
	for i := range long {
		long[i] = said(strings.Repeat("ä", chela.MaxMessageBytes/2))
	}
	if note := droppedNote(long, len(long)); len(note) > 20_000 || !utf8.ValidString(note) {
		t.Errorf("a note of %d bytes", len(note))
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	rules := QueueRules{
		QueueSettings: chela.QueueSettings{Mode: chela.QueueFollowup, Cap: 7},
		Channels:      map[string]*chela.QueueSettings{"telegram": {Mode: chela.QueueSteer, Drop: chela.DropOld}},
	}
	session := chela.Settings{Queue: chela.QueueSettings{Mode: chela.QueuePlain}}
	own := chela.QueueSettings{Mode: chela.QueueInterrupt, DebounceMS: -1}
	for _, c := range []struct {
		name    string
		channel string
		session chela.Settings
		own     chela.QueueSettings
		want    chela.QueueSettings
	}{
		{"home", "http", chela.Settings{}, chela.QueueSettings{}, chela.QueueSettings{Mode: chela.QueueFollowup, DebounceMS: 1000, Cap: 7, Drop: chela.DropSummarize}},
		{"channel", "telegram", chela.Settings{}, chela.QueueSettings{}, chela.QueueSettings{Mode: chela.QueueSteer, DebounceMS: 1000, Cap: 7, Drop: chela.DropOld}},
		{"session", "telegram", session, chela.QueueSettings{}, chela.QueueSettings{Mode: chela.QueuePlain, DebounceMS: 1000, Cap: 7, Drop: chela.DropOld}},
		{"message", "telegram", session, own, chela.QueueSettings{Mode: chela.QueueInterrupt, DebounceMS: -1, Cap: 7, Drop: chela.DropOld}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := chela.InboxMessage{}
			m.Origin.Channel, m.Queue = c.channel, c.own
			all := []chela.InboxMessage{m}
			rules.Settle(all, c.session)
			if diff := cmp.Diff(c.want, all[0].Queue); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
	if got := (QueueRules{}).For(chela.Inbound{}, chela.Settings{}); got != chela.DefaultQueue() {
		t.Errorf("without any rules %+v hold", got)
	}
}

// TestNotes gives each note an even share of 100,000 bytes.
func TestNotes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60_000)
	for _, c := range []struct {
		name  string
		notes []chela.Note
		want  string
	}{
		{"none", nil, ""},
		{"one", []chela.Note{{From: "routine daily", Text: long}}, "- [routine daily] " + long},
		{"two", []chela.Note{{From: "a", Text: long}, {From: "b", Text: "short"}}, "- [a] " + long[:50_000] + "…\n- [b] short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, FormatNotes(c.notes)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	all := waiting(chela.QueueCollect, "-,#a -,#b -,#c")
	if diff := cmp.Diff([]chela.InboxMessage{all[2], all[0]}, pick(all, []int{2, 0})); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func Example_droppedNote() {
	m := chela.InboxMessage{}
	m.Origin, m.Text = chela.Origin{Sender: "ann"}, "is there milk?"
	fmt.Println(droppedNote([]chela.InboxMessage{m}, 1))
	// Output:
	// One message sent while you were busy had to be dropped, since too many waited. In short:
	// - ann: is there milk?
}
