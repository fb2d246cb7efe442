package lane

import (
	"fmt"
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/prompt"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	thread := func(i int) chela.Thread {
		return chela.Thread{ID: chela.ThreadID(fmt.Sprint("thr_", i)), Head: chela.EntryID(fmt.Sprint("ent_", i)), Seq: int64(i + 1)}
	}
	var m Memory
	of := func(bytes, tokens int) prompt.Conversation {
		text := strings.Repeat("a", bytes-rememberedSize-prompt.Conversation{Messages: make([]chela.Message, 1)}.Size())
		return prompt.Conversation{Messages: []chela.Message{{Text: text}}, Tokens: tokens}
	}
	const large = 99
	one := of(maxKnown/256, large) // 256 such may stay
	for i := range 256 + 10 {
		m.Put(thread(i), one)
	}
	if n := m.order.Len(); n != 256 || len(m.byID) != 256 || m.bytes != maxKnown {
		t.Errorf("%d and %d conversations of %d bytes are kept, want 256", n, len(m.byID), m.bytes)
	}
	if _, ok := m.Get(thread(9)); ok {
		t.Error("one of the oldest is still known")
	}
	if got, ok := m.Get(thread(10)); !ok || got.Tokens != large {
		t.Errorf("the oldest that should be known: %+v %t", got, ok)
	}
	if _, ok := m.Get(thread(10)); ok {
		t.Error("a conversation is handed out twice")
	}
	longer := thread(20)
	longer.Seq++
	if _, ok := m.Get(longer); ok {
		t.Error("a thread that went on elsewhere is known")
	}
	branched := thread(21)
	branched.Head = "ent_other"
	if _, ok := m.Get(branched); ok {
		t.Error("a thread with another head is known")
	}
	m.Put(thread(30), prompt.Conversation{Tokens: 98})
	if got, ok := m.Get(thread(30)); !ok || got.Tokens != 98 {
		t.Errorf("what was put again: %+v %t", got, ok)
	}
	m.Put(thread(31), of(maxKnown, 97))
	if _, ok := m.Get(thread(32)); ok || m.order.Len() != 1 {
		t.Errorf("%d conversations beside one that is too large", m.order.Len())
	}
	if got, ok := m.Get(thread(31)); !ok || got.Tokens != 97 || m.bytes != 0 {
		t.Errorf("the newest is %+v %t, and %d bytes are left", got, ok, m.bytes)
	}
	m.limit = 1 << 20
	for i := range 256 {
		m.Put(thread(i), one)
	}
	if n := m.order.Len(); n != 16 {
		t.Errorf("%d conversations are kept in 1 MiB, want 16", n)
	}
	if got, ok := m.Get(chela.Thread{ID: "thr_new"}); !ok || got.Tokens != 0 {
		t.Errorf("a new thread: %+v %t", got, ok)
	}
}
