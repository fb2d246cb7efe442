package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"chela"
	"chela/internal/store"
)

// A story is a random thread: turns on branches, with everything that an entry
// can hold.
type story struct {
	*rapid.T
	ids     *chela.IDs
	thread  chela.Thread
	files   []chela.Attachment
	turns   []chela.Turn
	entries []chela.Entry
	parent  map[chela.EntryID]chela.EntryID
	starts  []chela.EntryID                   // the first entries of turns on the path, from what a compaction kept on
	ends    map[chela.EntryID][]chela.EntryID // starts at the ends of turns
	now     time.Time
}

func (s *story) text(name string) string {
	return rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 })).Draw(s.T, name)
}

func (s *story) coin(name string) bool { return rapid.Bool().Draw(s.T, name) }

// tell returns a thread of some turns in a session.
func tell(t *rapid.T, ids *chela.IDs, key chela.SessionKey, files []chela.Attachment) *story {
	s := &story{
		T: t, ids: ids, files: files, now: noon, parent: map[chela.EntryID]chela.EntryID{}, ends: map[chela.EntryID][]chela.EntryID{},
		thread: chela.Thread{ID: ids.Thread(), Session: key, Title: "a story", State: chela.ThreadIdle, CreatedAt: noon, UpdatedAt: noon},
	}
	for range rapid.IntRange(1, 6).Draw(t, "turns") {
		if len(s.turns) > 0 && rapid.IntRange(0, 4).Draw(t, "branch") == 0 { // somebody undid some
			s.thread.Head = rapid.SampledFrom(s.turns).Draw(t, "back to").Base
			s.starts = s.ends[s.thread.Head]
		}
		s.turn()
	}
	return s
}

// add appends an entry below the head.
func (s *story) add(b chela.Body) chela.Entry {
	s.thread.Seq++
	s.now = s.now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(s.T, "later")) * time.Microsecond)
	e := chela.Entry{
		ID: s.ids.Entry(), Thread: s.thread.ID, Parent: s.thread.Head, Turn: s.turns[len(s.turns)-1].ID, Seq: s.thread.Seq,
		Body: b, Tokens: 1, CreatedAt: s.now,
	}
	s.parent[e.ID], s.thread.Head = e.Parent, e.ID
	s.entries = append(s.entries, e)
	return e
}

func (s *story) turn() {
	turn := chela.Turn{
		ID: s.ids.Turn(), Session: s.thread.Session, Thread: s.thread.ID, State: chela.TurnCompleted, Model: "openai/some/model",
		Base: s.thread.Head, Steps: 2, Origin: chela.Origin{Channel: "test", Owner: true}, CreatedAt: s.now, FinishedAt: s.now.Add(time.Second),
	}
	s.turns = append(s.turns, turn)
	first := s.add(chela.UserBody{Text: s.text("user"), From: rapid.SampledFrom([]string{"", "ann"}).Draw(s.T, "from"), Attachments: s.attached()})
	s.starts = append(s.starts[:len(s.starts):len(s.starts)], first.ID)
	for range rapid.IntRange(0, 2).Draw(s.T, "steps") {
		s.step()
		if s.coin("note") {
			s.add(chela.NoteBody{Text: s.text("note"), Mark: chela.Mark{Hidden: s.coin("hidden")}})
		}
		if s.coin("custom") {
			s.add(chela.CustomBody{Text: rapid.SampledFrom([]string{"", "x", `{"name":"a","data":1}`, `{"name":"a", "data":1}`, `{"name":"chela","data":2}`}).Draw(s.T, "state")})
		}
	}
	if s.coin("compact") {
		s.compact()
	}
	s.add(chela.AnswerBody{
		Text: s.text("answer"), Model: rapid.SampledFrom([]string{"", "m", "a/b", "a/b/c", "/m", "a/"}).Draw(s.T, "model"), Stop: chela.StopEnd, Interrupted: s.coin("interrupted"),
		Usage: &chela.TokenUsage{Input: 3, Output: 4, CacheRead: 5, Reasoning: 1}, Ratio: 1.25,
	})
	s.ends[s.thread.Head] = s.starts
}

func (s *story) attached() []chela.Attachment {
	if !s.coin("attach") {
		return nil
	}
	return []chela.Attachment{rapid.SampledFrom(s.files).Draw(s.T, "file")}
}

// step is an answer with calls, and their results.
func (s *story) step() {
	calls := make([]chela.CallSpec, rapid.IntRange(0, 3).Draw(s.T, "calls"))
	for i := range calls {
		calls[i] = chela.CallSpec{ID: s.ids.Call(), Ref: fmt.Sprint("ref_", i), Tool: "look"}
		if args, err := json.Marshal(map[string]string{"path": s.text("path")}); err == nil && s.coin("args") {
			calls[i].Args = args
		} else {
			calls[i].Raw = `{"pa`
		}
	}
	s.add(chela.AnswerBody{
		Text: s.text("said"), Calls: calls, Stop: chela.StopCalls, Model: "openai/x",
		Thinking: []chela.Thinking{{Text: s.text("thought"), Signature: "sig", Provider: "anthropic"}, {Redacted: "r", Provider: "anthropic"}},
	})
	states := []chela.CallState{chela.CallDone, chela.CallFailed, chela.CallDenied, chela.CallSkipped, chela.CallUnknown}
	for _, c := range calls {
		b := chela.ResultBody{Text: s.text("result"), Call: c.ID, Ref: c.Ref, Tool: c.Tool, Status: rapid.SampledFrom(states).Draw(s.T, "status"), Attachments: s.attached()}
		if s.coin("cut") {
			b.Whole = &s.files[0]
		}
		s.add(b)
	}
}

// compact puts a summary in the place of some turns.
func (s *story) compact() {
	kept := rapid.IntRange(0, len(s.starts)).Draw(s.T, "kept")
	b := chela.CompactionBody{
		Text: s.text("summary"), Strategy: chela.StrategySummarize, TokensBefore: 100, TokensAfter: 10, Pinned: s.starts[:min(kept, 1)],
	}
	e := s.add(b)
	if b.FirstKept = e.ID; kept < len(s.starts) {
		b.FirstKept = s.starts[kept]
	}
	s.entries[len(s.entries)-1].Body = b
	s.starts = s.starts[kept:]
}

// keep stores the story.
func (s *story) keep(ctx context.Context, to *store.Store) error {
	return to.Write(ctx, "test", func(w *store.Write) error {
		session := chela.Session{Key: s.thread.Session, Agent: "main", Thread: s.thread.ID, CreatedAt: noon, UpdatedAt: noon}
		if err := w.CreateSession(ctx, session, chela.ClassMain); err != nil {
			return err
		}
		if err := w.CreateThread(ctx, s.thread); err != nil {
			return err
		}
		for _, t := range s.turns {
			if err := w.OpenTurn(ctx, t); err != nil {
				return err
			}
		}
		for _, e := range s.entries {
			if err := w.AppendEntry(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}
