// Package conversations keeps the newest conversations of a process in memory.
package conversations

import (
	"container/list"
	"sync"
	"time"

	"chela"
	"chela/internal/prompt"
)

// maxKnown is how many bytes the conversations in memory may take, about: a
// thousand of middle length.
const maxKnown = 64 << 20

// A Memory remembers the newest conversations, so that a turn in a live thread
// does not read it again. What is remembered is used only if the thread in the
// store is exactly as it was then. The zero Memory remembers nothing yet. It may be
// used by several goroutines at once.
type Memory struct {
	mu    sync.Mutex
	byID  map[chela.ThreadID]*list.Element // guarded by mu; values are *remembered
	order list.List                        // guarded by mu; most recently used in front
	bytes int                              // guarded by mu; what all of them take
}

type remembered struct {
	thread       chela.Thread // updated when it was put here
	conversation prompt.Conversation
}

// bytes is about what r takes in memory.
func (r *remembered) bytes() int {
	return 512 + 256*len(r.conversation.Messages) + 4*r.conversation.Tokens
}

// Get hands out the conversation of a thread up to its head, and forgets it:
// it is appended to by whoever asked.
func (m *Memory) Get(t chela.Thread) (prompt.Conversation, bool) {
	if t.Head == "" {
		return prompt.Conversation{}, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.byID[t.ID]
	if !ok {
		return prompt.Conversation{}, false
	}
	m.forget(e)
	r := e.Value.(*remembered)
	return r.conversation, r.thread.Seq == t.Seq && r.thread.Head == t.Head
}

// Put remembers the conversation of a thread up to its head.
func (m *Memory) Put(t chela.Thread, conversation prompt.Conversation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byID[t.ID]; ok {
		m.forget(e)
	}
	if m.byID == nil {
		m.byID = map[chela.ThreadID]*list.Element{}
	}
	r := &remembered{t, conversation}
	m.byID[t.ID] = m.order.PushFront(r)
	m.bytes += r.bytes()
	for m.bytes > maxKnown && m.order.Len() > 1 {
		m.forget(m.order.Back())
	}
}

// Prune forgets the conversations whose threads were last used before a time,
// and returns those threads, the last used first, and the sessions of the others.
func (m *Memory) Prune(before time.Time) (gone []chela.Thread, live map[chela.SessionKey]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live = map[chela.SessionKey]bool{}
	for e := m.order.Front(); e != nil; {
		next, t := e.Next(), e.Value.(*remembered).thread
		if t.UpdatedAt.Before(before) {
			gone = append(gone, t)
			m.forget(e)
		} else {
			live[t.Session] = true
		}
		e = next
	}
	return gone, live
}

// forget drops an element; m.mu is held.
func (m *Memory) forget(e *list.Element) {
	r := e.Value.(*remembered)
	m.order.Remove(e)
	m.bytes -= r.bytes()
	delete(m.byID, r.thread.ID)
}
