package notice

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/api"
	"chela/internal/safety"
	"chela/internal/store"
	"chela/internal/tool/self"
)

// CallOrigin returns the origin of what a call starts: that of the call's turn,
// with the rights, the profile and the provenance of that turn. A manual call is the
// owner's.
func CallOrigin(ctx context.Context, r *store.Read, c chela.ToolCall) (chela.Origin, error) {
	if c.Turn == "" {
		return chela.Origin{Channel: api.SocketChannel, Owner: true}, nil
	}
	t, err := r.Turn(ctx, c.Turn)
	if err != nil {
		return chela.Origin{}, err
	}
	s, err := r.Session(ctx, t.Session)
	origin := t.Origin.ActingFor(t.Principal())
	origin.Profile = cmp.Or(t.Overrides.Profile, s.Settings.Profile)
	origin.Provenance = safety.Label(c.Tool, c.Provenance)
	return origin, err
}

// callSpeaker names the source of a call in notices. A manual call has none.
func callSpeaker(ctx context.Context, r *store.Read, c chela.ToolCall) (string, error) {
	if c.Turn == "" {
		return "", nil
	}
	t, err := r.Turn(ctx, c.Turn)
	if err != nil {
		return "", err
	}
	return Speaker(ctx, r, t)
}

// Send queues the text of a call for a channel, once, and returns its destination.
func (d *Notices) Send(ctx context.Context, o self.MessageOrder) (to string, err error) {
	err = d.store.Tell(ctx, "message.send", d.cfg.Emit, func(w *store.Write) error {
		place, ok, err := lastOn(ctx, &w.Read, o.Channel)
		if err != nil {
			return err
		}
		if !ok && o.Channel != api.SocketChannel {
			return chela.Ef(chela.NotFound, "no conversation is known on channel %.60q", o.Channel).
				WithHint("use a channel that the owner has written on, or  " + api.SocketChannel)
		}
		place.Channel, place.Owner = o.Channel, true // the approver
		if o.To != "" {
			place.To, place.Thread = o.To, ""
		}
		to = place.Channel
		if place.To != "" {
			to += ":" + place.To
		}
		from, err := callSpeaker(ctx, &w.Read, o.Call)
		if err != nil {
			return err
		}
		return d.Tell(ctx, w, Notice{
			Key: "message/" + string(o.Call.ID), Agent: o.Call.Agent, Target: chela.TargetOrigin, Origin: place, From: from, Text: o.Text, Kind: chela.NoticeMessage,
		})
	})
	return to, err
}
