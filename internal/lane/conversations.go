package lane

import (
	"container/list"
	"sync"

	"chela"
	"chela/internal/prompt"
)

// maxKnown is how many conversations are kept in memory.
const maxKnown = 256

// conversations remembers the newest ones, so that a turn in a live thread does
// not read it again. What is remembered is used only if the thread in the store
// is exactly as it was then.
type conversations struct {
	mu    sync.Mutex
	byID  map[chela.ThreadID]*list.Element // guarded by mu; values are *remembered
	order list.List                        // guarded by mu; most recently used in front
}

type remembered struct {
	thread       chela.Thread
	conversation prompt.Conversation
}

// get hands out the conversation of a thread up to its head, and forgets it:
// it is appended to by whoever asked.
func (c *conversations) get(t chela.Thread) (prompt.Conversation, bool) {
	if t.Seq == 0 {
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
	c.byID[t.ID] = c.order.PushFront(&remembered{t, conversation})
	if c.order.Len() > maxKnown {
		c.forget(c.order.Back())
	}
}

// forget drops an element; c.mu is held.
func (c *conversations) forget(e *list.Element) {
	c.order.Remove(e)
	delete(c.byID, e.Value.(*remembered).thread.ID)
}
