package self

// This part of the package holds the tools for an agent's routines:
// routine_create, routine_list, routine_update, routine_delete, routine_fire,
// routine_history and schedule_run_output; and report, which decides whether
// people are notified of a run.

import (
	"time"

	"chela"
)

// routineTools are the tools on the routines of the home.
type routineTools struct {
	connect ConnectFunc
	zone    *time.Location
}

// RoutineTools returns the tools. Times without a zone are in the zone of the owner.
func RoutineTools(connect ConnectFunc, zone *time.Location) []chela.Tool {
	d := routineTools{connect, zone}
	return []chela.Tool{d.create(), d.list(), d.update(), d.delete(), d.fire(), d.history(), d.output()}
}

// routines returns the connection of a call.
func (d routineTools) routines(call chela.ToolCall) connection {
	return connection{d.connect, call, "routine_list lists those that there are"}
}

// routineWriting is the judgement of a call that changes rows of chela's store and may
// be repeated with the same key.
func routineWriting(preview, subject string) chela.Judgement {
	return chela.Judgement{
		Effect: chela.EffectWrite, Resume: chela.ResumeRepeat, Preview: preview, Subjects: []string{subject}, Power: chela.PowerStanding,
	}
}
