package config

import (
	"time"

	"chela"
	"chela/internal/config/field"
)

// Session says which direct chats share a session, and when a conversation is
// reset or archived.
type Session struct {
	DMScope       chela.DMScope
	IdentityLinks map[string]string // "channel:peer" or a peer, to the name of one person

	DailyReset  field.DayTime // daily reset time of a conversation with people, in the owner's time zone
	IdleMinutes int           // idle time until a reset; 0 means never
	IdleUnload  time.Duration // idle time until it leaves memory
	ArchiveDays int           // idle time until its session is archived; 0 means never
}

// NewSession returns the defaults.
func NewSession() Session {
	return Session{
		DMScope: chela.ScopeMain, IdentityLinks: map[string]string{}, DailyReset: field.DayTime{Set: true, Hour: 4}, IdleUnload: 30 * time.Minute,
	}
}

var dmScopes = []chela.DMScope{chela.ScopeMain, chela.ScopePerPeer, chela.ScopePerChannelPeer}

// SessionKeys are the keys of [session], except its identity links.
var SessionKeys = []field.Key[Session]{
	field.Named("dm_scope", func(s *Session) field.Field { return field.Choice(&s.DMScope, dmScopes) }),
	field.Named("daily_reset", func(s *Session) field.Field { return field.TimeOfDay(&s.DailyReset) }),
	field.Named("idle_minutes", func(s *Session) field.Field { return field.Number(&s.IdleMinutes, 0, 525_600) }),
	field.Named("idle_unload", func(s *Session) field.Field { return field.Span(&s.IdleUnload, time.Second, 24*time.Hour) }),
	field.Named("archive_days", func(s *Session) field.Field { return field.Number(&s.ArchiveDays, 0, 36_500) }),
}

// Link is the field of one identity link: the person behind a peer.
func (s *Session) Link(peer string) field.Field {
	person := s.IdentityLinks[peer]
	f := field.Text(&person, "the name of a person", field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		s.IdentityLinks[peer] = person
		return nil
	}
	f.Show = func() string { return s.IdentityLinks[peer] }
	return f
}

// Queue configures how messages are queued while a turn runs, with overrides by
// channel.
type Queue struct {
	chela.QueueSettings
	Channels map[string]*chela.QueueSettings // by channel name
}

// NewQueue returns the defaults.
func NewQueue() Queue {
	return Queue{QueueSettings: chela.DefaultQueue(), Channels: map[string]*chela.QueueSettings{}}
}

// Channel returns the settings of a channel, creating them if missing.
func (q *Queue) Channel(name string) *chela.QueueSettings {
	s, ok := q.Channels[name]
	if !ok {
		s = &chela.QueueSettings{}
		q.Channels[name] = s
	}
	return s
}

var (
	queueModes = []chela.QueueMode{
		chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
	}
	queueDrops = []chela.QueueDrop{chela.DropOld, chela.DropNew, chela.DropSummarize}
)

// QueueKeys are the keys of [queue] and of [queue.channels.NAME].
var QueueKeys = []field.Key[chela.QueueSettings]{
	field.Named("mode", func(q *chela.QueueSettings) field.Field { return field.Choice(&q.Mode, queueModes) }),
	field.Named("debounce_ms", func(q *chela.QueueSettings) field.Field { return debounce(&q.DebounceMS) }),
	field.Named("cap", func(q *chela.QueueSettings) field.Field { return field.Number(&q.Cap, 1, chela.MaxWaiting) }),
	field.Named("drop", func(q *chela.QueueSettings) field.Field { return field.Choice(&q.Drop, queueDrops) }),
}

// debounce is a time in milliseconds. Written as 0 it means none, stored as -1,
// because a stored 0 means unset.
func debounce(at *int) field.Field {
	ms := max(*at, 0)
	f := field.Number(&ms, 0, int(chela.MaxDebounce/time.Millisecond))
	put := f.Put
	f.Put = func(v any) error {
		if err := put(v); err != nil {
			return err
		}
		*at = ms
		if ms == 0 {
			*at = -1
		}
		return nil
	}
	return f
}
