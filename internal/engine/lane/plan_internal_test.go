package lane

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// waiting reads messages: each is its mode, "-" for the given one, and what sets
// it apart: "@thread", "#model", "via:channel", "owed" for an answer that is
// pushed, "from:sender", "think" for overrides, "cmd" for a command, "+" for tools that it
// offers, "big" for as much text as may be, "most" for as
// much as fits beside one other, "!" for one of a future clock, "early"
// for one from before the turn that runs. They came a second apart, the newest now,
// and a debounce takes 1.5 s; "fast" has none.
func waiting(mode chela.QueueMode, text string) []chela.InboxMessage {
	var all []chela.InboxMessage
	words := strings.Fields(text)
	for i, word := range words {
		m := chela.InboxMessage{State: chela.InboxWaiting, CreatedAt: noon.Add(time.Duration(i+1-len(words)) * time.Second)}
		m.Session, m.Thread, m.Origin.Channel, m.Text = chela.MainKey("main"), "main", "test", "hello"
		m.Queue = chela.QueueSettings{Mode: mode, DebounceMS: 1500, Cap: 5, Drop: chela.DropSummarize}
		parts := strings.Split(word, ",")
		if parts[0] != "-" {
			m.Queue.Mode = chela.QueueMode(parts[0])
		}
		for _, part := range parts[1:] {
			apart(&m, part)
		}
		all = append(all, m)
	}
	return all
}

func apart(m *chela.InboxMessage, part string) {
	switch part {
	case "never":
		m.Queue.Drop = chela.DropNever
	case "owed":
		m.Origin.ReplyBy, m.Origin.To = chela.ReplyByOutbox, "chat"
	case "think":
		m.Overrides.Thinking = chela.ThinkingHigh
	case "cmd":
		m.Command = chela.CommandCompact
	case "+":
		m.Offers = []chela.ToolSpec{{Name: "theirs"}}
	case "big":
		m.Text = strings.Repeat("x", chela.MaxMessageBytes)
	case "most": // fills the room beside one "hello"
		m.Text = strings.Repeat("x", chela.MaxMessageBytes-len("hello"))
	case "!":
		m.CreatedAt = noon.Add(time.Hour)
	case "early":
		m.CreatedAt = noon.Add(-time.Hour)
	case "fast":
		m.Queue.DebounceMS = -1
	case "owner":
		m.Origin.For = chela.PrincipalOwner
	case "told": // how a job ended
		m.Origin.Generation = 1
	}
	if thread, ok := strings.CutPrefix(part, "@"); ok {
		m.Thread = chela.ThreadID(thread)
	}
	if model, ok := strings.CutPrefix(part, "#"); ok {
		m.Model = model
	}
	if sender, ok := strings.CutPrefix(part, "from:"); ok {
		m.Origin.Sender = sender
	}
	if channel, ok := strings.CutPrefix(part, "via:"); ok {
		m.Origin.Channel = channel
	}
}

// modes are all there are.
var modes = []chela.QueueMode{
	chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
}

// A situation is what messages of one mode find, and what becomes of them by
// mode, in the order of modes: what is taken, steers or stops, as places or
// words.
type situation struct {
	name    string
	waiting string
	running bool
	later   time.Duration // how long after noon it is
	want    [6]string
}

// TestEveryModeInEverySituation is the table of the queue modes.
func TestEveryModeInEverySituation(t *testing.T) {
	t.Parallel()
	const over = 2 * time.Second // the debounce is
	for _, s := range []situation{
		{"nothing", "", false, 0, [6]string{"", "", "", "", "", ""}},
		{"nothing behind a turn", "", true, 0, [6]string{"", "", "", "", "", ""}},
		{"one behind a turn", "-", true, 0, [6]string{"", "", "steer 0", "steer 0", "", "stop"}},
		{"three behind a turn", "- - -", true, 0, [6]string{"", "", "steer 0 1 2", "steer 0 1 2", "", "stop"}},
		{"left when the turn began", "-,early -", true, 0, [6]string{"", "", "steer 1", "steer 1", "", "stop"}},
		{"in another thread behind a turn", "-,@other", true, 0, [6]string{"", "", "", "", "", "stop"}},
		{"by another model behind a turn", "-,#other", true, 0, [6]string{"", "", "", "", "", "stop"}},
		{"by the turn's model behind it", "-,#large", true, 0, [6]string{"", "", "steer 0", "steer 0", "", "stop"}},
		{"with overrides behind a turn", "-,think", true, 0, [6]string{"", "", "", "", "", "stop"}},
		{"a command behind a turn", "-,cmd", true, 0, [6]string{"", "", "", "", "", "stop"}},
		{"from another place behind a turn", "-,via:other", true, 0, [6]string{"", "", "steer 0", "steer 0", "", "stop"}},
		{"to be pushed to another place", "-,owed", true, 0, [6]string{"", "", "", "", "", "stop"}},
		{"the owner's behind a turn of a guest", "-,owner -", true, 0, [6]string{"", "", "steer 1", "steer 1", "", "stop"}},
		{"offering tools behind a turn", "-,+", true, 0, [6]string{"", "", "steer 0", "steer 0", "", "stop"}},

		{"one while it is debounced", "-", false, time.Second, [6]string{"1500ms", "1500ms", "1500ms", "1500ms", "0", "0"}},
		{"three while debounced", "- - -", false, time.Second, [6]string{"1500ms", "1500ms", "1500ms", "1500ms", "0", "0 1 2"}},
		{"one after the debounce", "-", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"three after the debounce", "- - -", false, over, [6]string{"0 1 2", "0", "0 1 2", "0", "0", "0 1 2"}},
		{"at the end of the debounce", "-", false, 1500 * time.Millisecond, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"as many as may wait", "- - - - -", false, 0, [6]string{"0 1 2 3 4", "0", "0 1 2 3 4", "0", "0", "0 1 2 3 4"}},
		{"without debounce", "-,fast -", false, 0, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"from a clock that is ahead", "-,!", false, 0, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"behind one from such a clock", "-,! -", false, 0, [6]string{"1500ms", "1500ms", "1500ms", "1500ms", "0", "0 1"}},

		{"in two threads", "- -,@other -", false, over, [6]string{"0", "0", "0", "0", "0", "0 2"}},
		{"by two models", "- -,#other", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"by one other model", "-,#o -,#o -", false, over, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"one that tells how a job ended", "- -,told -", false, over, [6]string{"0 1 2", "0", "0 1 2", "0", "0", "0 1 2"}},
		{"from two places", "- -,via:other", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"of a guest and the owner", "- -,owner", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"with two overrides", "- -,think", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"offering tools first", "-,+ -", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"offering tools later", "- - -,+", false, over, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"a command first", "-,cmd -", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"a command later", "- -,cmd -", false, over, [6]string{"0", "0", "0", "0", "0", "0 2"}},
		{"of two people in one place", "-,from:ann -,from:bob", false, over, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"just fitting into one turn", "- -,most", false, over, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"just fitting and one more", "- -,most -", false, over, [6]string{"0 1", "0", "0 1", "0", "0", "0 1"}},
		{"debounced in one of two threads", "- -,@other", false, over - time.Second, [6]string{"0", "0", "0", "0", "0", "0"}},
		{"too large for one turn", "- -,big -", false, over, [6]string{"0", "0", "0", "0", "0", "0"}},
	} {
		for i, mode := range modes {
			t.Run(string(mode)+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				s.check(t, mode, s.want[i])
			})
		}
	}
}

// running returns the turn that messages wait behind.
func running() *chela.Turn {
	return &chela.Turn{ID: "turn_1", Session: chela.MainKey("main"), Thread: "main", Model: "large", State: chela.TurnProcessing, CreatedAt: noon.Add(-time.Minute)}
}

func (s situation) check(t *testing.T, mode chela.QueueMode, want string) {
	t.Helper()
	var behind *chela.Turn
	if s.running {
		behind = running()
	}
	got := plan(waiting(mode, s.waiting), behind, noon.Add(s.later))
	if diff := cmp.Diff(outline(t, want), got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// decision reads what becomes of messages: "stop", "steer" and places, places
// that are taken, or how long after noon they are looked at again.
func outline(t *testing.T, text string) (d decision) {
	t.Helper()
	if after, err := time.ParseDuration(text); err == nil && text != "0" {
		d.NotBefore = noon.Add(after)
		return d
	}
	words := strings.Fields(text)
	at := &d.Take
	for _, word := range words {
		switch word {
		case "stop":
			d.Stop = true
		case "steer":
			at = &d.Steer
		default:
			*at = append(*at, int(word[0]-'0'))
		}
	}
	return d
}

// Messages may ask for other modes than the session's.
func TestModesThatDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		waiting string
		running bool
		want    string
	}{
		{"collect followup collect", false, "0"},
		{"followup collect collect", false, "0"},
		{"collect collect followup", false, "0 1"},
		{"collect steer collect", false, "0 1 2"},
		{"collect steer-backlog", false, "0"},
		{"collect queue collect", false, "0"},
		{"queue collect", false, "0"},
		{"collect followup queue interrupt collect", false, "0 1 2 3 4"},
		{"collect interrupt,@other", false, "1"},
		{"collect,cmd interrupt collect", false, "1 2"},
		{"interrupt collect,big interrupt,@other", false, "0"},
		{"collect steer followup steer-backlog", true, "steer 1 3"},
		{"collect followup queue", true, ""},
		{"steer interrupt", true, "stop steer 0"},
	} {
		t.Run(c.waiting, func(t *testing.T) {
			t.Parallel()
			situation{waiting: c.waiting, running: c.running, later: time.Hour}.check(t, chela.QueueCollect, c.want)
		})
	}
}

// TestSteeringUnderOverrides steers a turn only with messages that ask for its
// overrides or for none.
func TestSteeringUnderOverrides(t *testing.T) {
	t.Parallel()
	turn := running()
	turn.Overrides.Thinking = chela.ThinkingHigh
	got := plan(waiting(chela.QueueSteer, "- -,think"), turn, noon)
	if diff := cmp.Diff(decision{Steer: []int{0, 1}}, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// TestShapedTurnsAreAlone keeps messages out of a turn that shapes its answers, and
// keeps messages that shape answers out of each other's turns.
func TestShapedTurnsAreAlone(t *testing.T) {
	t.Parallel()
	for _, o := range []chela.Overrides{{Answer: 1}, {Sampling: &chela.Sampling{Stop: []string{"END"}}}} {
		turn := running()
		turn.Overrides = o
		if diff := cmp.Diff(decision{}, plan(waiting(chela.QueueSteer, "- -,think"), turn, noon)); diff != "" {
			t.Errorf("decision behind a turn with %+v (-want +got):\n%s", o, diff)
		}
	}
	all := waiting(chela.QueueCollect, "- -")
	for i := range all {
		all[i].Overrides.Sampling = &chela.Sampling{Stop: []string{"END"}}
	}
	if diff := cmp.Diff(decision{Take: []int{0}}, plan(all, nil, noon.Add(time.Hour))); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// TestDebounceOfOneThread waits for messages of the thread of the oldest one
// only.
func TestDebounceOfOneThread(t *testing.T) {
	t.Parallel()
	got := plan(waiting(chela.QueueCollect, "- -,@other"), nil, noon)
	if diff := cmp.Diff(decision{NotBefore: noon.Add(500 * time.Millisecond)}, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// A plan for as many messages as usually may wait takes no longer than 1 µs.
func BenchmarkPlan(b *testing.B) {
	all := waiting(chela.QueueCollect, strings.Repeat("- ", 20))
	for _, c := range []struct {
		name    string
		running *chela.Turn
		now     time.Time
	}{
		{"debounced", nil, noon},
		{"taken", nil, noon.Add(time.Hour)},
		{"behind", running(), noon},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plan(all, c.running, c.now)
			}
		})
	}
}
