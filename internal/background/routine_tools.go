package background

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/notice"
	"chela/internal/background/routine"
	"chela/internal/store"
	"chela/internal/tool/self"
)

// RoutineTools returns the routines for the tools that manage them. The
// background may be made after the tools: it is looked up on each call.
func RoutineTools(zone *time.Location, of func() *Background) self.RoutineAPI {
	desk := func() *routine.Desk { return of().routines }
	return self.RoutineAPI{
		Create: func(ctx context.Context, v chela.Routine, call chela.ToolCall) (chela.Routine, error) {
			return of().createBy(ctx, v, call)
		},
		Update: func(ctx context.Context, id chela.RoutineID, c self.RoutineChange, call chela.ToolCall) (chela.Routine, error) {
			return of().updateBy(ctx, id, c, call)
		},
		Routines: func(ctx context.Context) ([]chela.Routine, error) { return desk().Routines(ctx) },
		Named:    func(ctx context.Context, name string) (chela.Routine, error) { return desk().Routine(ctx, name) },
		Delete: func(ctx context.Context, id chela.RoutineID, call chela.ToolCall) error {
			return desk().Delete(ctx, id, agentOf(call))
		},
		Fire: func(ctx context.Context, id chela.RoutineID, input string, call chela.ToolCall) (chela.RunID, error) {
			return desk().Fire(ctx, id, routine.Firing{Key: string(call.ID), Input: input, By: agentOf(call)})
		},
		Runs: func(ctx context.Context, id chela.RoutineID, limit int) ([]chela.RoutineRun, error) {
			return desk().Runs(ctx, id, "", limit)
		},
		Run:    func(ctx context.Context, id chela.RunID) (chela.RoutineRun, error) { return desk().Run(ctx, id) },
		Report: func(ctx context.Context, turn chela.TurnID, r chela.Report) error { return desk().Report(ctx, turn, r) },
		Zone:   zone,
	}
}

func agentOf(call chela.ToolCall) string { return "agent " + call.Agent }

// createBy creates the routine of a call. It notifies people at the origin of
// the call's turn, and has the rights of that turn. A call repeated after a
// crash finds its routine.
func (b *Background) createBy(ctx context.Context, v chela.Routine, call chela.ToolCall) (chela.Routine, error) {
	origin, err := b.originOf(ctx, call)
	if err != nil {
		return v, fmt.Errorf("origin of call %s: %w", call.ID, err)
	}
	v.Origin = origin
	made, err := b.routines.Create(ctx, v, agentOf(call))
	if chela.KindOf(err) != chela.Conflict {
		return made, err
	}
	known, wrong := b.routines.Routine(ctx, v.Name)
	if wrong == nil && known.Session == call.Session && known.Version == 1 && known.CreatedAt.Equal(known.UpdatedAt) && known.Action.Text == v.Action.Text {
		return known, nil
	}
	return made, err
}

// updateBy applies the change that a call requests.
func (b *Background) updateBy(ctx context.Context, id chela.RoutineID, c self.RoutineChange, call chela.ToolCall) (chela.Routine, error) {
	v, err := b.routines.Routine(ctx, string(id))
	if err != nil {
		return v, err
	}
	d := &routine.Draft{Routine: v, Zone: b.cfg.Settings.Zone()}
	if c.Schedule != nil {
		k, ok := routine.FindFormKey(string(v.Trigger.Kind))
		if !ok || v.Trigger.Kind == chela.TriggerEvent || v.Trigger.Kind == chela.TriggerWebhook || v.Trigger.Kind == chela.TriggerManual {
			return v, chela.E(chela.Invalid, fmt.Sprintf("a trigger of kind %s has no schedule", v.Trigger.Kind))
		}
		if err := k.Put(d, "schedule", *c.Schedule); err != nil {
			return v, err
		}
	}
	to := &d.Routine
	set(&to.Action.Text, c.Text)
	set(&to.Description, c.Description)
	set(&to.Trigger.Zone, c.Zone)
	set(&to.Trigger.Pattern, c.Pattern)
	set(&to.Action.Model, c.Model)
	set(&to.Notify.Policy, c.Notify)
	set(&to.Notify.Target, c.Target)
	change := routine.FormChanges(v, *to)
	change.Enabled = c.Enabled
	return b.routines.Update(ctx, id, change, agentOf(call))
}

func set[T any](at, to *T) {
	if to != nil {
		*at = *to
	}
}

// callerOf names the principal of a call. A manual call has none.
func callerOf(ctx context.Context, r *store.Read, c chela.ToolCall) (string, error) {
	if c.Turn == "" {
		return "", nil
	}
	t, err := r.Turn(ctx, c.Turn)
	if err != nil {
		return "", err
	}
	return speaker(ctx, r, t)
}

// Send queues the text of a call for a channel, once.
func (b *Background) Send(ctx context.Context, o self.MessageOrder) (to string, err error) {
	var events []chela.Event
	err = b.cfg.Store.Write(ctx, "message.send", func(w *store.Write) error {
		place, ok, err := notice.LastOn(ctx, &w.Read, o.Channel)
		if err != nil {
			return err
		}
		if !ok && o.Channel != api.SocketChannel {
			return chela.E(chela.NotFound, fmt.Sprintf("no conversation is known on channel %.60q", o.Channel)).
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
		from, err := callerOf(ctx, &w.Read, o.Call)
		if err != nil {
			return err
		}
		events, err = b.notices.Tell(ctx, w, notice.Notice{
			Key: "message/" + string(o.Call.ID), Agent: o.Call.Agent, Target: chela.TargetOrigin, Origin: place, From: from, Text: o.Text,
		})
		return err
	})
	for _, e := range events {
		b.cfg.Emit(e)
	}
	return to, err
}
