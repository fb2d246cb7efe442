package offline

import (
	"strings"

	"chela"
)

// notePrefix marks remarks of the host, which are user messages not written by
// a person.
const notePrefix = "[note from the host]"

// A plan is the response to the newest user messages of a conversation.
type plan struct {
	actions []action
	unclear bool   // a message was not understood: nothing is done then
	done    []done // the calls since then
	bytes   int    // total length of the messages read
	place   int    // index of the newest message, which makes references unique
}

// A done call has its result, or one without a role if that is missing.
type done struct {
	chela.CallSpec
	result chela.Message
}

// planOf returns the plan for a conversation, and whether it has a user message at
// all. It does not look past the newest user messages.
func planOf(messages []chela.Message) (*plan, bool) {
	last := len(messages) - 1
	for last >= 0 && !spoken(messages[last]) {
		last--
	}
	if last < 0 {
		return nil, false
	}
	first := last
	for first > 0 && messages[first-1].Role == chela.RoleUser {
		first--
	}
	p := &plan{place: len(messages)}
	for _, m := range messages[first:] {
		p.add(m)
	}
	p.unclear = p.unclear || len(p.actions) == 0
	if p.unclear {
		p.actions = nil
	}
	return p, true
}

func spoken(m chela.Message) bool {
	return m.Role == chela.RoleUser && !strings.HasPrefix(m.Text, notePrefix)
}

func (p *plan) add(m chela.Message) {
	p.bytes += len(m.Text)
	switch {
	case spoken(m) && strings.TrimSpace(m.Text) != "": // else it is, for example, an attachment alone
		actions, ok := understand(m.Text)
		p.actions, p.unclear = append(p.actions, actions...), p.unclear || !ok
	case m.Role == chela.RoleAssistant:
		for _, c := range m.Calls {
			p.bytes += len(c.Tool) + len(c.Args) + len(c.Raw)
			p.done = append(p.done, done{CallSpec: c})
		}
	case m.Role == chela.RoleTool:
		p.put(m)
	}
}

// put assigns a result to its call.
func (p *plan) put(result chela.Message) {
	for i, c := range p.done {
		if c.result.Role == "" && (c.ID == result.Call || c.Ref != "" && c.Ref == result.Ref) {
			p.done[i].result = result
			return
		}
	}
}
