package hook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
)

// Message runs the hooks on a message before it is accepted. A refused message
// is Denied.
func (h *Hooks) Message(ctx context.Context, in chela.Inbound) (chela.Inbound, error) {
	if in.Text == "" {
		return in, nil
	}
	v := h.Fire(ctx, inbound(in))
	if v.Refused != "" {
		return in, chela.E(chela.Denied, "the message was refused: "+v.Refused)
	}
	if v.Text != in.Text {
		in.Text, in.Input = v.Text, chela.InputText // a hook wrote this text: it may contain no commands
	}
	return in, nil
}

// HearsMessage reports whether a hook applies to a message.
func (h *Hooks) HearsMessage(in chela.Inbound) bool { return in.Text != "" && h.Any(inbound(in)) }

func inbound(in chela.Inbound) Moment {
	return Moment{
		Point: chela.HookBeforeInbound, Session: in.Session, Thread: in.Thread, Agent: in.Agent,
		Channel: in.Origin.Channel, Sender: in.Origin.Sender, Text: in.Text,
	}
}

// Passed queues a notification that a thread began or ended, with the reason.
// It never blocks; a full queue drops the notification and logs that.
func (h *Hooks) Passed(p chela.HookPoint, key chela.SessionKey, thread chela.ThreadID, why string) {
	m := Moment{Point: p, Session: key, Thread: thread, Text: why}
	if parsed, err := chela.ParseSessionKey(key); err == nil {
		m.Agent, m.Channel = parsed.Agent, parsed.Channel
	}
	if !h.Any(m) {
		return
	}
	select {
	case h.queue <- m:
	default:
		h.cfg.Log.Warn("hook notification dropped: queue full", "point", string(m.Point), "session", string(m.Session))
	}
}

// restTime is the default time to deliver queued notifications at shutdown.
const restTime = 10 * time.Second

var errEnds = errors.New("chela is shutting down")

// Run delivers queued notifications until ctx ends, and then the remaining ones
// within the shutdown time, which also bounds the notification in progress.
func (h *Hooks) Run(ctx context.Context) error {
	if h == nil {
		return nil
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // each hook has its own timeout, and Run waits for it
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(cmp.Or(h.cfg.Rest, restTime)):
			cancel(errEnds)
		case <-own.Done():
		}
	})()
	for ctx.Err() == nil {
		select {
		case m := <-h.queue:
			h.Fire(own, m)
		case <-ctx.Done():
		}
	}
	for len(h.queue) > 0 && own.Err() == nil {
		h.Fire(own, <-h.queue)
	}
	if n := len(h.queue); n > 0 {
		h.cfg.Log.Warn("hook notifications dropped at shutdown", "moments", n)
	}
	return nil
}
