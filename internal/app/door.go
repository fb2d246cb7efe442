package app

// This part of the package accepts messages and follows their turns. Every
// message, from any surface, passes through the single Door of a home.

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"chela"
	"chela/internal/config"
	"chela/internal/engine/approval"
	"chela/internal/engine/hook"
	"chela/internal/engine/lane"
	"chela/internal/engine/queue"
	"chela/internal/platform/event"
	"chela/internal/store"
	"chela/internal/surface/command"
)

// ConversationConfig holds the dependencies of a door. All fields are required.
type ConversationConfig struct {
	Settings *config.Config
	Store    *store.Store
	IDs      *chela.IDs
	Bus      *event.Bus
	Lanes    *lane.Lanes
	Desk     *approval.Desk
	Hooks    *hook.Hooks
	Commands *command.Interpreter

	// Hears returns a hook for the transaction that accepts a message for the
	// model, or nil.
	Hears func(ctx context.Context, in chela.Inbound) (lane.Also, error)

	// Usable returns nil if a model, as provider/model, is available.
	Usable func(model string) error

	// Turn returns a turn and its current activity.
	Turn func(ctx context.Context, id chela.TurnID) (chela.Turn, error)
}

// A Door is the ingress of messages, and follows their turns. It is safe for
// concurrent use.
type Door struct {
	config    ConversationConfig
	accepting singleflight.Group // messages being accepted
}

// NewDoor returns the door of a home.
func NewDoor(cfg ConversationConfig) *Door { return &Door{config: cfg} }

// acceptTime is the timeout of accepting a message: hooks may inspect it, and a
// command may take long.
const acceptTime = 5 * time.Minute

// Accept commits a message; its turn starts asynchronously. A message resent
// while it is still being accepted joins the pending request, which continues
// if its first sender disconnects.
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

// accept is the ingress of every message: an answer to a pending question goes
// to the approvals, a command is executed, anything else goes into the inbox.
// It reports whether the message started a turn in this process.
func (d *Door) accept(ctx context.Context, in chela.Inbound) (r lane.Receipt, begun bool, err error) {
	if err := queue.CheckInbound(in); err != nil {
		return r, false, err
	}
	answered, ok, err := d.config.Desk.AnswerText(ctx, in)
	if err != nil {
		return r, false, err
	}
	if ok {
		return lane.Receipt{Session: answered.Session, Thread: answered.Thread, Turn: answered.Turn}, false, nil
	}
	if d.config.Hooks.HearsMessage(in) { // hooks run once per delivery
		if r, ok, err := d.config.Lanes.Known(ctx, in); ok || err != nil {
			return r, false, errors.Join(err, d.wake(ctx, r))
		}
	}
	if in, err = d.config.Hooks.Message(ctx, in); err != nil {
		return r, false, err
	}
	in, done, err := d.config.Commands.Take(ctx, in)
	if err != nil {
		return r, false, err
	}
	if done != nil {
		return *done, false, nil
	}
	if err := d.answerable(ctx, in); err != nil {
		return r, false, err
	}
	also, err := d.config.Hears(ctx, in)
	if err != nil {
		return r, false, err
	}
	r, err = d.config.Lanes.SubmitAlso(ctx, in, d.config.Commands.Elevating(in, also))
	if err == nil && r.Duplicate {
		err = d.wake(ctx, r)
	}
	return r, r.Turn != "" && !r.Duplicate, err
}

// wake resumes the lane of a message that was resent and is still queued: the
// process that ran the lane may be dead, and without a daemon no other process
// adopts it.
func (d *Door) wake(ctx context.Context, r lane.Receipt) error {
	if r.Turn != "" || r.Dropped || r.Session == "" {
		return nil
	}
	return d.config.Lanes.Wake(ctx, r.Session)
}

// complete fills in a message's defaults.
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
	if _, err := d.config.Settings.Agent(in.Agent); err != nil {
		return in, err
	}
	if in.MessageID == "" {
		in.MessageID = string(d.config.IDs.Inbox())
	}
	return in, nil
}

// answerable returns why no model could answer a message, or nil.
func (d *Door) answerable(ctx context.Context, in chela.Inbound) error {
	if len(in.Results) > 0 {
		return nil // the turn that they queue behind has its model
	}
	err := d.config.Settings.Answerable(in.Agent, in.Model, d.config.Usable)
	if err == nil || in.Model != "" {
		return err
	}
	s, found := store.Find(ctx, d.config.Store, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, in.Session) })
	if found == nil && s.Settings.Model != "" {
		err = d.config.Usable(s.Settings.Model)
	}
	return err
}
