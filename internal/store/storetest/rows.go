package storetest

import (
	"fmt"
	"testing"

	"chela"
	"chela/internal/store"
)

// A family is a session with a thread and a turn, on which other rows hang.
type family struct {
	key    chela.SessionKey
	thread chela.ThreadID
	turn   chela.TurnID
}

// found stores a family whose ids begin with name.
func found(t testing.TB, s *store.Store, name string) family {
	t.Helper()
	f := family{
		key:    chela.SessionKey("agent:main:job:" + name),
		thread: chela.ThreadID("thr_" + name),
		turn:   chela.TurnID("turn_" + name),
	}
	ctx := t.Context()
	write(t, s, func(w *store.Write) error {
		session := chela.Session{Key: f.key, Agent: "main", Thread: f.thread, CreatedAt: at(0), UpdatedAt: at(0)}
		if err := w.CreateSession(ctx, session, chela.ClassJob); err != nil {
			return err
		}
		if err := w.CreateThread(ctx, f.newThread(f.thread)); err != nil {
			return err
		}
		return w.OpenTurn(ctx, f.newTurn(f.turn, chela.TurnCompleted))
	})
	return f
}

func (f family) newThread(id chela.ThreadID) chela.Thread {
	return chela.Thread{ID: id, Session: f.key, State: chela.ThreadIdle, CreatedAt: at(0), UpdatedAt: at(0)}
}

func (f family) newTurn(id chela.TurnID, state chela.TurnState) chela.Turn {
	return chela.Turn{ID: id, Session: f.key, Thread: f.thread, State: state, CreatedAt: at(0)}
}

// newEntry is the entry at place seq of the family's thread, below the one
// before it.
func (f family) newEntry(seq int64) chela.Entry {
	e := chela.Entry{
		ID: f.entryID(seq), Thread: f.thread, Turn: f.turn, Seq: seq,
		Body: chela.UserBody{Text: "hello"}, CreatedAt: at(int(seq)),
	}
	if seq > 1 {
		e.Parent = f.entryID(seq - 1)
	}
	return e
}

// newCompaction is a compaction at place seq that keeps the entries from first
// on, and older ones.
func (f family) newCompaction(seq int64, first chela.EntryID, pinned ...chela.EntryID) chela.Entry {
	e := f.newEntry(seq)
	e.Body = chela.CompactionBody{Text: "hello", FirstKept: first, Pinned: pinned}
	return e
}

func (f family) entryID(seq int64) chela.EntryID {
	return chela.EntryID(fmt.Sprintf("ent_%s_%d", f.thread, seq))
}

func (f family) newCall(id chela.CallID, step, index int) chela.ToolCall {
	return chela.ToolCall{
		ID: id, Turn: f.turn, Thread: f.thread, Session: f.key, Step: step, Index: index,
		Tool: "time", State: chela.CallRequested, CreatedAt: at(0),
	}
}

// newApproval is a question about a call, both named by id.
func (f family) newApproval(id string) chela.Approval {
	return chela.Approval{
		ID: chela.ApprovalID("apr_" + id), Call: chela.CallID("call_" + id), Turn: f.turn, Thread: f.thread, Session: f.key,
		State: chela.ApprovalPending, Tool: "shell", Effect: chela.EffectExecute, ArgsHash: "00", CreatedAt: at(0), ExpiresAt: at(1),
	}
}

func (f family) newMessage(id string) chela.InboxMessage {
	return chela.InboxMessage{
		ID: chela.InboxID("in_" + id), State: chela.InboxWaiting, CreatedAt: at(0),
		Inbound: chela.Inbound{Session: f.key, Agent: "main", Origin: chela.Origin{Channel: "terminal"}, MessageID: id, Text: "hello"},
	}
}

func (f family) newOutbound(id string) chela.Outbound {
	return chela.Outbound{
		ID: chela.OutboxID("out_" + id), Session: f.key, Turn: f.turn, To: chela.Origin{Channel: "telegram"},
		Text: "hello", State: chela.OutboxPending, CreatedAt: at(0),
	}
}

func (f family) newUsage(id string, tokens chela.TokenUsage) chela.Usage {
	return chela.Usage{
		ID: chela.UsageID("use_" + id), Payer: chela.Payer{Session: f.key, Turn: f.turn, Step: 1, Purpose: "turn"}, Model: "offline/rules",
		State: chela.UsageSettled, Tokens: tokens, CreatedAt: at(0),
	}
}

const workKind = "deliver"

func newWork(id string) chela.Work {
	return chela.Work{
		ID: chela.WorkID("work_" + id), Kind: workKind, Key: id, State: chela.WorkDue, DueAt: at(0), CreatedAt: at(0),
	}
}
