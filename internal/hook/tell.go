package hook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"chela"
)

// Message lets hooks change a message before it is accepted. One that they
// refuse is Denied.
func (h *Hooks) Message(ctx context.Context, in chela.Inbound) (chela.Inbound, error) {
	if in.Text == "" {
		return in, nil
	}
	v := h.Fire(ctx, inbound(in))
	if v.Refused != "" {
		return in, chela.E(chela.Denied, "the message was refused: "+v.Refused)
	}
	in.Text = v.Text
	return in, nil
}

// HearsMessage reports whether a hook would be asked about a message.
func (h *Hooks) HearsMessage(in chela.Inbound) bool { return in.Text != "" && h.Any(inbound(in)) }

func inbound(in chela.Inbound) Moment {
	return Moment{
		Point: chela.HookBeforeInbound, Session: in.Session, Thread: in.Thread, Agent: in.Agent,
		Channel: in.Origin.Channel, Sender: in.Origin.Sender, Text: in.Text,
	}
}

// Passed queues that a conversation began or ended, and why. It does not wait.
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
		h.cfg.Log.Warn("hook not told, too many wait", "point", string(m.Point), "session", string(m.Session))
	}
}

// restTime is how long what is left may take to be told after the end.
const restTime = 10 * time.Second

var errEnds = errors.New("chela ends")

// Run tells what was queued until ctx ends, and then what is left of it, as far
// as there is time. What is being told at the end has no longer than that.
func (h *Hooks) Run(ctx context.Context) error {
	if h == nil {
		return nil
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // each hook has its own time, and Run waits for it
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
		h.cfg.Log.Warn("hooks not told, chela ends", "moments", n)
	}
	return nil
}
