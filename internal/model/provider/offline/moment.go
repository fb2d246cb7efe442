package offline

import (
	"strings"

	"chela"
)

// notePrefix marks remarks of the host, which are user messages not written by
// a person.
const notePrefix = "[note from the host]"

// A moment is the part of a conversation that decides the answer: the newest
// messages, and the steps since.
type moment struct {
	said  []string // the newest user messages
	done  []step   // the steps since
	bytes int      // total length
	place int      // index of the newest message, which makes refs unique
}

// A step is an assistant message with calls, and their results.
type step struct {
	calls   []chela.CallSpec
	results []chela.Message // one per call; without a role if missing
}

// newest returns the moment of a conversation, and whether it has a user
// message at all. It does not look past the newest user message.
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

// put assigns a result to its call. Results without a matching call id, as in
// hand-made conversations, go to the first call without a result.
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

// failed reports whether any call of the step failed.
func (s *step) failed() bool {
	for _, r := range s.results {
		if r.Failed {
			return true
		}
	}
	return false
}

// usage estimates tokens as bytes/4. Input counts only the messages that the
// rules read, not the whole prompt.
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
