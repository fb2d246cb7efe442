package api

import (
	"time"

	"chela"
)

// A NewRoutine asks for a routine.
type NewRoutine struct {
	Name           string              `json:"name" check:"is=name"`
	Description    string              `json:"description,omitempty" check:"max=1000"`
	Agent          string              `json:"agent,omitempty" check:"is=name"` // main when empty
	Disabled       bool                `json:"disabled,omitempty"`              // it does not fire yet
	Trigger        chela.Trigger       `json:"trigger"`
	Action         chela.RoutineAction `json:"action"`
	Guards         chela.RoutineGuards `json:"guards,omitzero"`
	Notify         chela.RoutineNotify `json:"notify,omitzero"`
	DeleteAfterRun bool                `json:"delete_after_run,omitempty"`
}

// Routine returns the routine that is asked for by whom an origin names.
func (n NewRoutine) Routine(origin chela.Origin) chela.Routine {
	return chela.Routine{
		Name: n.Name, Description: n.Description, Agent: n.Agent, Enabled: !n.Disabled, Trigger: n.Trigger, Action: n.Action,
		Guards: n.Guards, Notify: n.Notify, DeleteAfterRun: n.DeleteAfterRun, Origin: origin,
	}
}

// A RoutineChange changes a routine. A missing field stays; a field that is set is
// replaced as a whole.
type RoutineChange struct {
	Name           *string              `json:"name,omitempty" check:"is=name"`
	Description    *string              `json:"description,omitempty" check:"max=1000"`
	Agent          *string              `json:"agent,omitempty" check:"is=name"`
	Enabled        *bool                `json:"enabled,omitempty"`
	Trigger        *chela.Trigger       `json:"trigger,omitempty"`
	Action         *chela.RoutineAction `json:"action,omitempty"`
	Guards         *chela.RoutineGuards `json:"guards,omitempty"`
	Notify         *chela.RoutineNotify `json:"notify,omitempty"`
	DeleteAfterRun *bool                `json:"delete_after_run,omitempty"`
}

// A Firing lets a routine fire by hand.
type Firing struct {
	Input string `json:"input,omitempty" check:"max=100000"`    // handed to the run
	Key   string `json:"key,omitempty" check:"is=line max=200"` // the same one fires once
}

// A Fired names the run that somebody let begin.
type Fired struct {
	Run chela.RunID `json:"run"`
}

// A Due is a time at which a routine is due.
type Due struct {
	At      time.Time       `json:"at"`
	Routine chela.RoutineID `json:"routine"`
	Name    string          `json:"name"`
	Trigger chela.Trigger   `json:"trigger"`
}

// A Hooked answers a request to a webhook. Of one that was taken before the run is
// the one that it began then, as far as it is kept.
type Hooked struct {
	Run       chela.RunID `json:"run,omitempty"`
	Duplicate bool        `json:"duplicate,omitempty"`
	Challenge string      `json:"challenge,omitempty"` // of Slack, which asks whether somebody is there
}
