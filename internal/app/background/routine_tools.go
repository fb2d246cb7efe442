package background

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/notice"
	"chela/internal/routine"
	"chela/internal/routine/form"
	"chela/internal/store"
	"chela/internal/tool/message"
	"chela/internal/tool/routines"
)

// RoutineTools returns the desk of the tools by which agents keep routines. The
// background may be made after the tools: it is asked for with each call.
func RoutineTools(zone *time.Location, of func() *Background) routines.Desk {
	desk := func() *routine.Desk { return of().routines }
	return routines.Desk{
		Create: func(ctx context.Context, v chela.Routine, call chela.ToolCall) (chela.Routine, error) {
			return of().createBy(ctx, v, call)
		},
		Update: func(ctx context.Context, id chela.RoutineID, c routines.Change, call chela.ToolCall) (chela.Routine, error) {
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

// createBy makes the routine of a call. It tells people where the turn of the call
// came from, and has the rights of that turn. A call that is made again after a crash
// finds the routine that it made.
func (b *Background) createBy(ctx context.Context, v chela.Routine, call chela.ToolCall) (chela.Routine, error) {
	origin, err := b.originOf(ctx, call)
	if err != nil {
		return v, fmt.Errorf("origin of call %s: %w", call.ID, err)
	}
	v.Origin = origin
	made, err := kept{b}.create(ctx, v, agentOf(call))
	if chela.KindOf(err) != chela.Conflict {
		return made, err
	}
	known, wrong := b.routines.Routine(ctx, v.Name)
	if wrong == nil && known.Session == call.Session && known.Version == 1 && known.CreatedAt.Equal(known.UpdatedAt) && known.Action.Text == v.Action.Text {
		return known, nil
	}
	return made, err
}

// updateBy changes a routine as a call says.
func (b *Background) updateBy(ctx context.Context, id chela.RoutineID, c routines.Change, call chela.ToolCall) (chela.Routine, error) {
	v, err := b.routines.Routine(ctx, string(id))
	if err != nil {
		return v, err
	}
	d := &form.Draft{Routine: v, Zone: b.cfg.Settings.Zone()}
	if c.Schedule != nil {
		k, ok := form.Find(string(v.Trigger.Kind))
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
	change := form.Changes(v, *to)
	change.Enabled = c.Enabled
	return kept{b}.change(ctx, string(id), change, agentOf(call))
}

func set[T any](at, to *T) {
	if to != nil {
		*at = *to
	}
}

// callerOf names in whose name a call speaks to people. One that is made by hand speaks
// for nobody.
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

// Send owes the text of a call to a channel, once.
func (b *Background) Send(ctx context.Context, o message.Order) (to string, err error) {
	var events []chela.Event
	err = b.cfg.Store.Write(ctx, "message.send", func(w *store.Write) error {
		place, ok, err := notice.LastOn(ctx, &w.Read, o.Channel)
		if err != nil {
			return err
		}
		if !ok && o.Channel != api.SocketChannel {
			return chela.E(chela.NotFound, fmt.Sprintf("nobody was ever seen on a channel %.60q", o.Channel)).
				WithHint("use one on which the owner has written, or " + api.SocketChannel)
		}
		place.Channel, place.Owner = o.Channel, true // who said yes to it
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
