package replay

import (
	"cmp"
	"context"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// again sends the messages of a turn to the model again, in a new thread that
// branches off at the start of the turn. The session's current thread does not
// change.
func (s *Stage) again(ctx context.Context, rec Record, session chela.Session) (*api.LiveTurn, error) {
	messages := s.messages(rec, session)
	if len(messages) == 0 {
		return nil, chela.E(chela.Unsupported, "turn "+string(rec.Turn.ID)+" has no message that can be sent again")
	}
	now := s.Turns.Now().UTC().Truncate(time.Microsecond)
	t := chela.Thread{
		ID: s.Turns.IDs.Thread(), Session: session.Key, Title: chela.TitleOf("again: " + messages[0].Text), Head: rec.Turn.Base, State: chela.ThreadIdle,
		CreatedAt: now, UpdatedAt: now,
	}
	err := s.Store.Write(ctx, "turn.again", func(w *store.Write) error {
		if _, err := w.LockLane(ctx, session.Key); err != nil {
			return err
		}
		if err := w.CreateThread(ctx, t); err != nil || t.Head == "" {
			return err
		}
		return w.AddBranch(ctx, chela.Branch{Session: t.Session, Thread: t.ID, Origin: rec.Turn.Thread, Entry: t.Head, CreatedAt: now})
	})
	if err != nil {
		return nil, err
	}
	for i := range messages {
		messages[i].Thread = t.ID
	}
	turn, err := s.Send(ctx, messages)
	if err != nil {
		return nil, err
	}
	entries, err := store.Get(ctx, s.Store, (*store.Read).TurnEntries, turn.ID)
	return &api.LiveTurn{Thread: t.ID, Turn: turn.ID, Ending: ending(turn, entries)}, err
}

// messages returns the messages of the turn for resending: the first with the
// turn's history, the others as steering messages. No reply is delivered to
// their origin.
func (s *Stage) messages(rec Record, session chela.Session) (messages []chela.Inbound) {
	var history []chela.Message
	for i, e := range rec.Entries {
		said, isUser := e.Body.(chela.UserBody)
		switch {
		case e.Kind() == chela.EntryAssistant && i < rec.opening():
			history = append(history, chela.Message{Role: chela.RoleAssistant, Text: e.Text(), Attachments: e.Attachments()})
			continue
		case isUser && said.Inbox == "":
			history = append(history, chela.Message{Role: chela.RoleUser, Text: said.Text, Attachments: said.Attachments})
			continue
		case !isUser || said.Command != "":
			continue
		}
		in := message(e).Inbound
		in.Session, in.Agent, in.MessageID = session.Key, session.Agent, string(s.Turns.IDs.Inbox())
		in.Offers = nil // their client is gone
		in.Origin.Channel = cmp.Or(rec.Turn.Origin.Channel, channel)
		in.Model, in.Overrides = rec.Turn.Model, rec.Turn.Overrides
		if len(messages) == 0 {
			in.History = history
		} else {
			in.Queue.Mode = chela.QueueSteer
		}
		messages = append(messages, in)
	}
	return messages
}

// channel is the channel of resent messages without a known one.
const channel = "replay"
