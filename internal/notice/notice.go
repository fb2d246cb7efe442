// Package notice tells people what nobody waits for: that a routine has something to
// report, that work failed, that something was repaired.
//
// A notice is owed to a channel like a reply, in the transaction that makes it
// necessary, and once for its key. Where the place that is named cannot be found the
// next is taken:
//
//	explicit ─▶ origin ─▶ last ─▶ broadcast ─▶ the terminal
//
// But for a place that is named, that is always one where the owner spoke last: what is
// told is for nobody else.
//
// It also leaves a durable event in the main session of the agent, so that who talks
// there sees it whatever became of the delivery. Channels that are read and not pushed
// show what is [Desk.Pending] and say what was [Desk.Seen].
package notice

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

// A Notice is something that people are told.
type Notice struct {
	Key     string // unique: the same notice is owed once
	Agent   string // who tells it
	Target  chela.NotifyTarget
	Channel string           // of an explicit target
	To      string           // of an explicit target; may be empty where the channel has one reader
	Origin  chela.Origin     // of an origin target
	Session chela.SessionKey // of an origin target: where that spoke
	From    string           // who speaks, such as the name of a routine: what people read begins with it
	Text    string

	Routine chela.RoutineID // what it is about, if it is about one
	Run     chela.RunID
	Job     chela.JobID
}

// Config is what a desk needs. All fields are required.
type Config struct {
	IDs *chela.IDs
	Now func() time.Time
}

// A Desk tells people. It may be used by several goroutines at once.
type Desk struct {
	store *store.Store
	cfg   Config
}

// New returns a desk over a store.
func New(s *store.Store, cfg Config) *Desk { return &Desk{store: s, cfg: cfg} }

func (d *Desk) now() time.Time { return d.cfg.Now().UTC().Truncate(time.Microsecond) }

// Tell owes a notice within a transaction. It returns the events that are to be
// announced after the commit; none if the notice was owed before.
func (d *Desk) Tell(ctx context.Context, w *store.Write, n Notice) ([]chela.Event, error) {
	if n.Target == chela.TargetNone || n.Text == "" {
		return nil, nil
	}
	places, err := placesOf(ctx, &w.Read, n)
	if err != nil {
		return nil, err
	}
	now := d.now()
	session := chela.MainKey(n.Agent)
	if err := d.furnish(ctx, w, n.Agent); err != nil {
		return nil, err
	}
	said := n.said()
	fresh := false
	for _, to := range places {
		to = addressOf(to)
		to.ReplyBy = chela.ReplyByOutbox
		added, err := w.OweOnce(ctx, chela.Outbound{
			ID: idOf(n.Key, to), Session: session, To: to, Text: said, State: chela.OutboxPending, CreatedAt: now,
		})
		if err != nil {
			return nil, err
		}
		fresh = fresh || added
	}
	if !fresh {
		return nil, nil
	}
	events := []chela.Event{{
		Kind: chela.EventNotice, Session: session, Routine: n.Routine, Run: n.Run, Job: n.Job, Text: said,
	}}
	return events, w.Announce(ctx, now, events)
}

// said is what people read: the same on every channel.
func (n Notice) said() string {
	if n.From == "" {
		return n.Text
	}
	return n.From + ": " + n.Text
}

// idOf names the delivery of a notice to a place.
func idOf(key string, to chela.Origin) chela.OutboxID {
	return chela.OutboxID("out_" + key + "/" + to.Channel + "/" + to.Account + "/" + to.To)
}

// Drop takes a notice back within a transaction, as far as nobody has seen it.
func (d *Desk) Drop(ctx context.Context, w *store.Write, key string) error {
	return w.DropOwed(ctx, "out_"+key+"/")
}

// furnish makes the session of a notice, if nobody ever spoke there.
func (d *Desk) furnish(ctx context.Context, w *store.Write, agent string) error {
	key, now := chela.MainKey(agent), d.now()
	if _, err := w.Session(ctx, key); chela.KindOf(err) != chela.NotFound {
		return err
	}
	s := chela.Session{Key: key, Agent: agent, Thread: d.cfg.IDs.Thread(), CreatedAt: now, UpdatedAt: now}
	if err := w.CreateSession(ctx, s, chela.ClassMain); err != nil {
		return err
	}
	if made, err := w.Session(ctx, key); err != nil || made.Thread != s.Thread {
		return err // another process made it meanwhile
	}
	return w.CreateThread(ctx, chela.Thread{ID: s.Thread, Session: key, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now})
}

// maxPending is how many notices are read at once.
const maxPending = 100

// Pending returns the oldest notices that are owed to a channel that is read, oldest
// first.
func (d *Desk) Pending(ctx context.Context, channel string) ([]chela.Outbound, error) {
	return store.Find(ctx, d.store, func(r *store.Read) ([]chela.Outbound, error) { return r.Owed(ctx, channel, maxPending) })
}

// Seen stores that notices of a channel were read. Those that somebody else read
// meanwhile, or that there are not, are left as they are.
func (d *Desk) Seen(ctx context.Context, channel string, ids []chela.OutboxID) error {
	return d.store.Write(ctx, "notice.seen", func(w *store.Write) error {
		owed, err := w.Owed(ctx, channel, maxPending)
		for _, o := range owed {
			if err != nil || !slices.Contains(ids, o.ID) {
				continue
			}
			o.State, o.SentAt = chela.OutboxSent, d.now()
			err = w.MoveOutbound(ctx, o)
		}
		return err
	})
}
