package lane

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

// conversations remembers the newest ones, so that a turn in a live thread does
// not read it again. What is remembered is used only if the thread in the store
// is exactly as it was then.
type conversations struct {
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

// get hands out the conversation of a thread up to its head, and forgets it:
// it is appended to by whoever asked.
func (c *conversations) get(t chela.Thread) (prompt.Conversation, bool) {
	if t.Head == "" {
		return prompt.Conversation{}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[t.ID]
	if !ok {
		return prompt.Conversation{}, false
	}
	c.forget(e)
	r := e.Value.(*remembered)
	return r.conversation, r.thread.Seq == t.Seq && r.thread.Head == t.Head
}

func (c *conversations) put(t chela.Thread, conversation prompt.Conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[t.ID]; ok {
		c.forget(e)
	}
	if c.byID == nil {
		c.byID = map[chela.ThreadID]*list.Element{}
	}
	r := &remembered{t, conversation}
	c.byID[t.ID] = c.order.PushFront(r)
	c.bytes += r.bytes()
	for c.bytes > maxKnown && c.order.Len() > 1 {
		c.forget(c.order.Back())
	}
}

// prune forgets the conversations whose threads were last used before a time,
// and returns those threads, the last used first, and the sessions of the others.
func (c *conversations) prune(before time.Time) (gone []chela.Thread, live map[chela.SessionKey]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	live = map[chela.SessionKey]bool{}
	for e := c.order.Front(); e != nil; {
		next, t := e.Next(), e.Value.(*remembered).thread
		if t.UpdatedAt.Before(before) {
			gone = append(gone, t)
			c.forget(e)
		} else {
			live[t.Session] = true
		}
		e = next
	}
	return gone, live
}

// forget drops an element; c.mu is held.
func (c *conversations) forget(e *list.Element) {
	r := e.Value.(*remembered)
	c.order.Remove(e)
	c.bytes -= r.bytes()
	delete(c.byID, r.thread.ID)
}
