// Package conversation takes messages in and shows what becomes of them. Every
// message comes in through the one Door of a home, whoever brings it.
package conversation

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"chela"
	"chela/internal/approval"
	"chela/internal/command"
	"chela/internal/config"
	"chela/internal/event"
	"chela/internal/hook"
	"chela/internal/inbox"
	"chela/internal/lane"
	"chela/internal/store"
)

// Config is what a door needs. All fields are required.
type Config struct {
	Settings *config.Config
	Store    *store.Store
	IDs      *chela.IDs
	Bus      *event.Bus
	Lanes    *lane.Lanes
	Desk     *approval.Desk
	Hooks    *hook.Hooks
	Commands *command.Interpreter

	// Hears returns what else happens in the transaction that accepts a message for
	// the model, or nil.
	Hears func(ctx context.Context, in chela.Inbound) (lane.Also, error)

	// Usable returns nil if a model can be asked, as provider/model.
	Usable func(model string) error

	// Turn returns a turn and what it does.
	Turn func(ctx context.Context, id chela.TurnID) (chela.Turn, error)
}

// A Door is the way in of messages, and where their turns are followed. It may be
// used by several goroutines at once.
type Door struct {
	cfg       Config
	accepting singleflight.Group // messages that are accepted now
}

// New returns the door of a home.
func New(cfg Config) *Door { return &Door{cfg: cfg} }

// acceptTime is how long it may take to accept a message: hooks may want to see
// it, and a command may have much to do.
const acceptTime = 5 * time.Minute

// Accept commits a message; its turn begins by itself. Who sends it again while
// it is accepted, since it took too long, waits for the same. So it goes on when
// who sent it first has gone, in his request.
func (d *Door) Accept(ctx context.Context, in chela.Inbound) (lane.Receipt, error) {
	in, err := d.complete(in)
	if err != nil {
		return lane.Receipt{}, err
	}
	delivery := strings.Join([]string{string(in.Session), in.Origin.Channel, in.Origin.Account, in.MessageID}, "\x00")
	accepted, err, _ := d.accepting.Do(delivery, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTime)
		defer cancel()
		r, _, err := d.accept(ctx, in)
		return r, err
	})
	r, _ := accepted.(lane.Receipt)
	return r, err
}

// accept is the way in of every message: an answer to a question that is
// pending goes to the desk, a command is carried out, anything else goes into the
// inbox. It reports whether the message began a turn in this process.
func (d *Door) accept(ctx context.Context, in chela.Inbound) (r lane.Receipt, begun bool, err error) {
	if err := inbox.Check(in); err != nil {
		return r, false, err
	}
	answered, ok, err := d.cfg.Desk.AnswerText(ctx, in)
	if err != nil {
		return r, false, err
	}
	if ok {
		return lane.Receipt{Session: answered.Session, Thread: answered.Thread, Turn: answered.Turn}, false, nil
	}
	if d.cfg.Hooks.HearsMessage(in) { // what they did for a delivery they did once
		if r, ok, err := d.cfg.Lanes.Known(ctx, in); ok || err != nil {
			return r, false, err
		}
	}
	if in, err = d.cfg.Hooks.Message(ctx, in); err != nil {
		return r, false, err
	}
	in, done, err := d.cfg.Commands.Take(ctx, in)
	if err != nil {
		return r, false, err
	}
	if done != nil {
		return *done, false, nil
	}
	if err := d.answerable(ctx, in); err != nil {
		return r, false, err
	}
	also, err := d.cfg.Hears(ctx, in)
	if err != nil {
		return r, false, err
	}
	r, err = d.cfg.Lanes.SubmitAlso(ctx, in, also)
	return r, r.Turn != "" && !r.Duplicate, err
}

// complete fills in what a message leaves open.
func (d *Door) complete(in chela.Inbound) (chela.Inbound, error) {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return in, err
	}
	if in.Agent == "" {
		in.Agent = key.Agent
	}
	if in.Agent == "" {
		in.Agent = chela.MainAgent
	}
	if _, err := d.cfg.Settings.Agent(in.Agent); err != nil {
		return in, err
	}
	if in.MessageID == "" {
		in.MessageID = string(d.cfg.IDs.Inbox())
	}
	return in, nil
}

// answerable returns why no model could answer a message, or nil.
func (d *Door) answerable(ctx context.Context, in chela.Inbound) error {
	if len(in.Results) > 0 {
		return nil // the turn that waits for them has its model
	}
	err := d.cfg.Settings.Answerable(in.Agent, in.Model, d.cfg.Usable)
	if err == nil || in.Model != "" {
		return err
	}
	s, found := store.Find(ctx, d.cfg.Store, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, in.Session) })
	if found == nil && s.Settings.Model != "" {
		err = d.cfg.Usable(s.Settings.Model)
	}
	return err
}
