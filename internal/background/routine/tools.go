package routine

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/background/notice"
	"chela/internal/store"
	"chela/internal/tool/self"
)

func agentOf(call chela.ToolCall) string { return "agent " + call.Agent }

// CreateFor creates the routine of a call. It notifies people at the origin of
// the call's turn, has the rights of that turn and is the next generation. It is
// Denied if that is too deep. A call repeated after a
// crash finds its routine.
func (d *Routines) CreateFor(ctx context.Context, call chela.ToolCall, v chela.Routine) (chela.Routine, error) {
	origin, err := store.Find(ctx, d.store, func(r *store.Read) (chela.Origin, error) { return notice.CallOrigin(ctx, r, call) })
	if err != nil {
		return v, fmt.Errorf("origin of call %s: %w", call.ID, err)
	}
	if origin.Generation, err = d.nextGeneration(origin); err != nil {
		return v, err
	}
	v.Origin = origin
	made, err := d.Create(ctx, v, agentOf(call))
	if chela.KindOf(err) != chela.Conflict {
		return made, err
	}
	known, wrong := d.Routine(ctx, v.Name)
	if wrong == nil && known.Session == call.Session && known.Version == 1 && known.CreatedAt.Equal(known.UpdatedAt) && known.Action.Text == v.Action.Text {
		return known, nil
	}
	return made, err
}

// UpdateFor applies the change that a call requests.
func (d *Routines) UpdateFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID, c self.RoutineChange) (chela.Routine, error) {
	v, err := d.Routine(ctx, string(id))
	if err != nil {
		return v, err
	}
	change, err := d.changeOf(v, c)
	if err != nil {
		return v, err
	}
	return d.Update(ctx, id, change, agentOf(call))
}

// changeOf returns the difference that a change makes to a routine.
func (d *Routines) changeOf(v chela.Routine, c self.RoutineChange) (api.RoutineChange, error) {
	draft := &Draft{Routine: v, Zone: d.cfg.Zone}
	if c.Schedule != nil {
		k, ok := FindFormKey(string(v.Trigger.Kind))
		if !ok || v.Trigger.Kind == chela.TriggerEvent || v.Trigger.Kind == chela.TriggerWebhook || v.Trigger.Kind == chela.TriggerManual {
			return api.RoutineChange{}, chela.E(chela.Invalid, fmt.Sprintf("a trigger of kind %s has no schedule", v.Trigger.Kind))
		}
		if err := k.Put(draft, "schedule", *c.Schedule); err != nil {
			return api.RoutineChange{}, err
		}
	}
	to := &draft.Routine
	set(&to.Action.Text, c.Text)
	set(&to.Description, c.Description)
	set(&to.Trigger.Zone, c.Zone)
	set(&to.Trigger.Pattern, c.Pattern)
	set(&to.Action.Model, c.Model)
	set(&to.Notify.Policy, c.Notify)
	set(&to.Notify.Target, c.Target)
	change := FormChanges(v, *to)
	change.Enabled = c.Enabled
	return change, nil
}

// DeleteFor deletes a routine for a call.
func (d *Routines) DeleteFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID) error {
	return d.Delete(ctx, id, agentOf(call))
}

// FireFor fires a routine for a call, once. It is Denied if the run would be too
// deep.
func (d *Routines) FireFor(ctx context.Context, call chela.ToolCall, id chela.RoutineID, input string) (chela.RunID, error) {
	origin, err := store.Find(ctx, d.store, func(r *store.Read) (chela.Origin, error) { return notice.CallOrigin(ctx, r, call) })
	if err != nil {
		return "", fmt.Errorf("origin of call %s: %w", call.ID, err)
	}
	generation, err := d.nextGeneration(origin)
	if err != nil {
		return "", err
	}
	return d.Fire(ctx, id, Firing{Key: string(call.ID), Input: input, By: agentOf(call), Generation: generation})
}
