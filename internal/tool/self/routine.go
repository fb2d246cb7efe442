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
	return []chela.Tool{
		define("routine_create", d.create, createInput.judge), define("routine_list", d.list, nil),
		define("routine_update", d.update, updateInput.judge), define("routine_delete", d.delete, nameInput.judge),
		define("routine_fire", d.fire, fireInput.judge), define("routine_history", d.history, nil),
		define("schedule_run_output", d.output, nil),
	}
}

// routines returns the connection of a call.
func (d routineTools) routines(call chela.ToolCall) connection {
	return connection{d.connect, call, "routine_list lists those that there are"}
}

// standing is the judgement of a call that changes a routine.
func standing(preview, name string) chela.Judgement {
	return powerful(chela.PowerStanding, change(preview, name))
}
