// Package session keeps sessions: what people set of them, and the threads they
// go through.
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
	"chela/internal/blob"
	"chela/internal/store"
)

// Config is what a keeper needs. All fields but Ended are required.
type Config struct {
	IDs  *chela.IDs
	Now  func() time.Time
	Emit func(chela.Event)

	Blobs *blob.Store // what attachments are

	// Agent returns why there is no agent of a name, or nil.
	Agent func(name string) error

	// Ended is told of conversations that ended; nil tells nobody.
	Ended EndFunc

	// Model returns why a model, named provider/model, cannot be used, or nil.
	Model func(name string) error
}

// A Keeper changes sessions and their threads. It may be used by several
// goroutines at once.
type Keeper struct {
	store *store.Store
	cfg   Config
}

// New returns a keeper of the sessions in a store.
func New(s *store.Store, cfg Config) *Keeper {
	if cfg.Ended == nil {
		cfg.Ended = func(End) {}
	}
	return &Keeper{store: s, cfg: cfg}
}

// now is the time as it is stored.
func (k *Keeper) now() time.Time { return k.cfg.Now().UTC().Truncate(time.Microsecond) }

// change runs fn on a session whose lane is locked, keeps what it changed and
// announces that.
func (k *Keeper) change(ctx context.Context, op string, key chela.SessionKey, fn func(w *store.Write, s *chela.Session) error) (chela.Session, error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return chela.Session{}, err
	}
	var s chela.Session
	var news []chela.Event
	err := k.store.Write(ctx, op, func(w *store.Write) error {
		_, err := w.LockLane(ctx, key)
		if err != nil {
			return err
		}
		if s, err = w.Session(ctx, key); err != nil {
			return err
		}
		if err := fn(w, &s); err != nil {
			return err
		}
		s.UpdatedAt = k.now()
		if err := w.SaveSession(ctx, s); err != nil {
			return err
		}
		news = []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: s.Thread}}
		return w.Announce(ctx, s.UpdatedAt, news)
	})
	if err != nil {
		return s, err
	}
	for _, e := range news {
		k.cfg.Emit(e)
	}
	return s, nil
}

// Change changes settings of a session, or its current thread. What is wrong in
// the patch is Invalid, and nothing is changed then.
func (k *Keeper) Change(ctx context.Context, key chela.SessionKey, p api.SettingsPatch) (chela.Session, error) {
	return k.change(ctx, "session.change", key, func(w *store.Write, s *chela.Session) error {
		if err := k.apply(&s.Settings, p); err != nil {
			return err
		}
		if p.Thread == nil {
			return nil
		}
		t, err := w.Thread(ctx, *p.Thread)
		if err == nil && t.Session != key {
			err = chela.E(chela.Invalid, fmt.Sprintf("thread %s belongs to another session", t.ID)).
				WithHint("see chela threads list --session " + string(key))
		}
		if err != nil {
			return err
		}
		s.SwitchTo(t.ID)
		return nil
	})
}

// Begin makes a new thread the current one of a session. The old one stays
// readable, and what runs in it goes on. A thread without a title gets one from
// its first message.
func (k *Keeper) Begin(ctx context.Context, key chela.SessionKey, title string) (chela.Thread, error) {
	if err := checkTitle(title, true); err != nil {
		return chela.Thread{}, err
	}
	now := k.now()
	t := chela.Thread{ID: k.cfg.IDs.Thread(), Session: key, Title: title, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
	end := End{Session: key, Reason: Asked}
	_, err := k.change(ctx, "session.reset", key, func(w *store.Write, s *chela.Session) error {
		end.Thread = s.Thread
		s.SwitchTo(t.ID)
		return w.CreateThread(ctx, t)
	})
	if err == nil {
		k.cfg.Ended(end)
	}
	return t, err
}

// Title gives a thread another title.
func (k *Keeper) Title(ctx context.Context, id chela.ThreadID, title string) (chela.Thread, error) {
	if err := checkTitle(title, false); err != nil {
		return chela.Thread{}, err
	}
	t, err := store.Find(ctx, k.store, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, id) })
	if err != nil {
		return t, err
	}
	_, err = k.change(ctx, "thread.title", t.Session, func(w *store.Write, _ *chela.Session) error {
		if err := w.TitleThread(ctx, id, title); err != nil {
			return err
		}
		t, err = w.Thread(ctx, id)
		return err
	})
	return t, err
}

// maxTitle is the longest title, in characters.
const maxTitle = 200

// checkTitle refuses what cannot be shown as a title in a list.
func checkTitle(title string, mayBeEmpty bool) error {
	switch {
	case strings.TrimSpace(title) == "" && (title != "" || !mayBeEmpty):
		return chela.E(chela.Invalid, "the title is empty").WithHint("write what the thread is about")
	case !utf8.ValidString(title) || utf8.RuneCountInString(title) > maxTitle || strings.ContainsFunc(title, unicode.IsControl):
		return chela.E(chela.Invalid, "that is no title").WithHint(fmt.Sprintf("write up to %d letters on one line", maxTitle))
	}
	return nil
}
