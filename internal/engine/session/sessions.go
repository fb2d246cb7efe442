// Package session manages sessions: their settings, their current thread, their
// placement, archive and transcripts.
package session

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/prompt"
	"chela/internal/platform/datadir"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// Config holds the dependencies of [Sessions]. All fields but Ended and Zone are required.
type Config struct {
	local.Process

	Blobs *datadir.Blobs // contents of attachments

	// Agent returns an error if there is no agent of this name.
	Agent func(name string) error

	Agents agents          // make the prompts of sessions
	Prompt prompt.Settings // limits of those prompts

	// Ended is called for ended conversations; may be nil.
	Ended EndFunc

	Zone *time.Location // of the owner; UTC if it is nil

	// Usable returns an error if a model, named provider/model, cannot be used.
	Usable func(model string) error
}

// Sessions reads and changes sessions and their threads. It is safe for concurrent use.
type Sessions struct {
	store *store.Store
	cfg   Config
}

// New returns the sessions in a store.
func New(s *store.Store, cfg Config) *Sessions {
	if cfg.Ended == nil {
		cfg.Ended = func(End) {}
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return &Sessions{store: s, cfg: cfg}
}

// now returns the time with the precision of the store.
func (ss *Sessions) now() time.Time { return ss.cfg.Now().UTC().Truncate(time.Microsecond) }

// change runs fn on a session with its lane locked and the time of its use, saves
// the session and announces the change.
func (ss *Sessions) change(ctx context.Context, op string, key chela.SessionKey, fn func(w *store.Write, s *chela.Session) error) (chela.Session, error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return chela.Session{}, err
	}
	var s chela.Session
	err := ss.store.Tell(ctx, op, ss.cfg.Emit, func(w *store.Write) error {
		_, err := w.LockLane(ctx, key)
		if err != nil {
			return err
		}
		if s, err = w.Session(ctx, key); err != nil {
			return err
		}
		before, now := s.Settings.Elevated, ss.now()
		s.UpdatedAt = now
		if err := fn(w, &s); err != nil {
			return err
		}
		if err := w.SaveSession(ctx, s); err != nil {
			return err
		}
		news := []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: s.Thread}}
		if level := s.Settings.Elevated; Raises(before, level) && Elevates(level) {
			news = append(news, chela.Event{Kind: chela.EventElevated, Session: s.Key, Thread: s.Thread, Text: level})
			ss.cfg.Log.Info("session elevated", "session", s.Key, "level", level)
		}
		return w.Announce(ctx, now, news)
	})
	return s, err
}

// set changes settings of a session, or its current thread, with the rights of the
// caller. A change beyond them is Denied. An invalid patch is Invalid and changes
// nothing.
func (ss *Sessions) set(ctx context.Context, c api.Caller, q api.SessionChange) (chela.Session, error) {
	p := q.Settings
	return ss.change(ctx, "session.change", q.Key, func(w *store.Write, s *chela.Session) error {
		before := s.Settings
		if err := ss.apply(&s.Settings, p); err != nil {
			return err
		}
		if err := Permit(before, s.Settings, c.Scope); err != nil {
			return err
		}
		if p.Thread == nil {
			return nil
		}
		t, err := w.Thread(ctx, *p.Thread)
		if err == nil && t.Session != q.Key {
			err = chela.Ef(chela.Invalid, "thread %s belongs to another session", t.ID).
				WithHint("see chela threads list --session " + string(q.Key))
		}
		if err != nil {
			return err
		}
		s.SwitchTo(t.ID)
		return nil
	})
}

// Begin creates a new thread and makes it the current one of a session. The old
// thread stays readable, and its open turn continues. A thread without a title
// gets one from its first message.
func (ss *Sessions) Begin(ctx context.Context, key chela.SessionKey, title string) (chela.Thread, error) {
	if err := checkTitle(title, true); err != nil {
		return chela.Thread{}, err
	}
	now := ss.now()
	t := chela.Thread{ID: ss.cfg.IDs.Thread(), Session: key, Title: title, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
	end := End{Session: key, Reason: Asked}
	_, err := ss.change(ctx, "session.reset", key, func(w *store.Write, s *chela.Session) error {
		end.Thread = s.Thread
		s.SwitchTo(t.ID)
		return w.CreateThread(ctx, t)
	})
	if err == nil {
		ss.cfg.Ended(end)
	}
	return t, err
}

// Title renames a thread.
func (ss *Sessions) Title(ctx context.Context, _ api.Caller, q api.ThreadTitle) (chela.Thread, error) {
	if err := checkTitle(q.Patch.Title, false); err != nil {
		return chela.Thread{}, err
	}
	t, err := ss.thread(ctx, q.ID)
	if err != nil {
		return t, err
	}
	_, err = ss.change(ctx, "thread.title", t.Session, func(w *store.Write, _ *chela.Session) error {
		if err := w.TitleThread(ctx, q.ID, q.Patch.Title); err != nil {
			return err
		}
		t, err = w.Thread(ctx, q.ID)
		return err
	})
	return t, err
}

// maxTitle is the maximum length of a title, in characters.
const maxTitle = 200

// checkTitle refuses titles that cannot be shown in a list.
func checkTitle(title string, mayBeEmpty bool) error {
	switch {
	case strings.TrimSpace(title) == "" && (title != "" || !mayBeEmpty):
		return chela.E(chela.Invalid, "the title is empty").WithHint("write what the thread is about")
	case !utf8.ValidString(title) || utf8.RuneCountInString(title) > maxTitle || strings.ContainsFunc(title, unicode.IsControl):
		return chela.E(chela.Invalid, "the title is invalid").WithHint(fmt.Sprintf("use up to %d characters on one line", maxTitle))
	}
	return nil
}
