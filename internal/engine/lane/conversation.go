package lane

import (
	"cmp"
	"container/list"
	"reflect"
	"sync"
	"time"

	"chela"
	"chela/internal/engine/prompt"
)

// maxKnown is the default limit of the cache, in bytes: several hundred conversations of
// medium length. One that was evicted is read again, which takes about 0.1 ms for 50
// messages.
const maxKnown = 16 << 20

// A Memory is an LRU cache of conversations, so that a turn in an active thread
// does not read the whole thread again. An entry is used only if the thread in
// the store is unchanged. The zero Memory is empty. It is safe for concurrent
// use.
type Memory struct {
	limit int // bytes; 0 means maxKnown

	mu    sync.Mutex
	byID  map[chela.ThreadID]*list.Element // guarded by mu; values are *remembered
	order list.List                        // guarded by mu; most recently used in front
	bytes int                              // guarded by mu; total size
}

type remembered struct {
	thread       chela.Thread // as of the Put
	conversation prompt.Conversation
	bytes        int // memory that it takes
}

// rememberedSize is the memory of a remembered without its conversation: its texts and
// its places in the list and the map.
var rememberedSize = int(reflect.TypeFor[remembered]().Size()) + 512

// Get removes and returns the conversation of a thread up to its head; the
// caller owns it and may append to it.
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

// Put caches the conversation of a thread up to its head.
func (m *Memory) Put(t chela.Thread, conversation prompt.Conversation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byID[t.ID]; ok {
		m.forget(e)
	}
	if m.byID == nil {
		m.byID = map[chela.ThreadID]*list.Element{}
	}
	r := &remembered{t, conversation, rememberedSize + conversation.Size()}
	m.byID[t.ID] = m.order.PushFront(r)
	m.bytes += r.bytes
	for m.bytes > cmp.Or(m.limit, maxKnown) && m.order.Len() > 1 {
		m.forget(m.order.Back())
	}
}

// Prune evicts the conversations whose threads were last used before a time. It
// returns those threads, most recently used first, and the sessions of the
// remaining ones.
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

// forget removes an element; m.mu is held.
func (m *Memory) forget(e *list.Element) {
	r := e.Value.(*remembered)
	m.order.Remove(e)
	m.bytes -= r.bytes
	delete(m.byID, r.thread.ID)
}
