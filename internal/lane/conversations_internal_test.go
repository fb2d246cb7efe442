package lane

import (
	"fmt"
	"testing"

	"chela"
	"chela/internal/prompt"
)

func TestConversations(t *testing.T) {
	t.Parallel()
	thread := func(i int) chela.Thread {
		return chela.Thread{ID: chela.ThreadID(fmt.Sprint("thr_", i)), Head: chela.EntryID(fmt.Sprint("ent_", i)), Seq: int64(i + 1)}
	}
	var c conversations
	for i := range maxKnown + 10 {
		c.put(thread(i), prompt.Conversation{Tokens: i})
	}
	if n := c.order.Len(); n != maxKnown || len(c.byID) != maxKnown {
		t.Errorf("%d and %d conversations are kept, want %d", n, len(c.byID), maxKnown)
	}
	if _, ok := c.get(thread(9)); ok {
		t.Error("one of the oldest is still known")
	}
	if got, ok := c.get(thread(10)); !ok || got.Tokens != 10 {
		t.Errorf("the oldest that should be known: %+v %t", got, ok)
	}
	if _, ok := c.get(thread(10)); ok {
		t.Error("a conversation is handed out twice")
	}
	longer := thread(20)
	longer.Seq++
	if _, ok := c.get(longer); ok {
		t.Error("a thread that went on elsewhere is known")
	}
	branched := thread(21)
	branched.Head = "ent_other"
	if _, ok := c.get(branched); ok {
		t.Error("a thread with another head is known")
	}
	c.put(thread(30), prompt.Conversation{Tokens: 99})
	if got, ok := c.get(thread(30)); !ok || got.Tokens != 99 {
		t.Errorf("what was put again: %+v %t", got, ok)
	}
	if got, ok := c.get(chela.Thread{ID: "thr_new"}); !ok || got.Tokens != 0 {
		t.Errorf("a new thread: %+v %t", got, ok)
	}
}
