package offline

import (
	"strings"

	"chela"
)

// notePrefix is how the host's own remarks begin. They are user messages that
// no person wrote.
const notePrefix = "[note from the host]"

// A moment is the part of a conversation that decides the answer: what was
// said last, and what has been done about it.
type moment struct {
	said  []string // the newest user messages
	done  []step   // the steps since
	bytes int      // of all of that
	place int      // index of the newest message, which makes refs unique
}

// A step is an assistant message with calls, and their results.
type step struct {
	calls   []chela.CallSpec
	results []chela.Message // as many as calls; without a role where one is missing
}

// newest returns the moment of a conversation, and whether a person has spoken
// at all. It looks at nothing before the newest user message, however long the
// conversation is.
func newest(messages []chela.Message) (moment, bool) {
	last := len(messages) - 1
	for last >= 0 && !spoken(messages[last]) {
		last--
	}
	if last < 0 {
		return moment{}, false
	}
	first := last
	for first > 0 && messages[first-1].Role == chela.RoleUser {
		first--
	}
	m := moment{place: len(messages)}
	for _, msg := range messages[first:] {
		m.add(msg)
	}
	return m, true
}

func spoken(m chela.Message) bool {
	return m.Role == chela.RoleUser && !strings.HasPrefix(m.Text, notePrefix)
}

func (m *moment) add(msg chela.Message) {
	m.bytes += len(msg.Text)
	switch {
	case spoken(msg):
		m.said = append(m.said, msg.Text)
	case msg.Role == chela.RoleAssistant && len(msg.Calls) > 0:
		m.done = append(m.done, step{calls: msg.Calls, results: make([]chela.Message, len(msg.Calls))})
		for _, c := range msg.Calls {
			m.bytes += len(c.Tool) + len(c.Args) + len(c.Raw)
		}
	case msg.Role == chela.RoleTool && len(m.done) > 0:
		m.done[len(m.done)-1].put(msg)
	}
}

// put lays a result beside the call it answers. Results that name no call of
// the step, as in conversations made by hand, go to the first call without one.
func (s *step) put(result chela.Message) {
	free := -1
	for i, c := range s.calls {
		switch {
		case s.results[i].Role != "":
		case c.ID != "" && c.ID == result.Call, c.Ref != "" && c.Ref == result.Ref:
			s.results[i] = result
			return
		case free < 0:
			free = i
		}
	}
	if free >= 0 {
		s.results[free] = result
	}
}

// failed reports whether a call of the step did not succeed.
func (s *step) failed() bool {
	for _, r := range s.results {
		if r.Failed {
			return true
		}
	}
	return false
}

// usage estimates four bytes to a token. Input counts what the rules look at,
// not the whole prompt.
func (m *moment) usage(system string, f *chela.Finish) chela.TokenUsage {
	out := len(f.Text)
	for _, c := range f.Calls {
		out += len(c.Tool) + len(c.Args)
	}
	return chela.TokenUsage{
		Input:  int64(len(system)+m.bytes+3) / 4,
		Output: int64(out+3) / 4,
	}
}
