package routine

import (
	"encoding/json"

	"chela"
	"chela/internal/api"
)

// New returns the request for the routine of a draft.
func (d *Draft) New(name, agent string) api.NewRoutine {
	v := d.Routine
	return api.NewRoutine{
		Name: name, Description: v.Description, Agent: agent, Trigger: v.Trigger, Action: v.Action, Guards: v.Guards, Notify: v.Notify,
		DeleteAfterRun: v.DeleteAfterRun,
	}
}

// FormChanges returns the difference between two versions of a routine.
func FormChanges(from, to chela.Routine) (c api.RoutineChange) {
	if from.Description != to.Description {
		c.Description = &to.Description
	}
	if !same(from.Trigger, to.Trigger) {
		c.Trigger = &to.Trigger
	}
	if !same(from.Action, to.Action) {
		c.Action = &to.Action
	}
	if from.Guards != to.Guards {
		c.Guards = &to.Guards
	}
	if from.Notify != to.Notify {
		c.Notify = &to.Notify
	}
	if from.DeleteAfterRun != to.DeleteAfterRun {
		c.DeleteAfterRun = &to.DeleteAfterRun
	}
	return c
}

// same reports whether two fields of a routine are equal.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, wrong := json.Marshal(b)
	return err == nil && wrong == nil && string(x) == string(y)
}
