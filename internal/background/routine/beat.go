package routine

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/engine/queue"
	"chela/internal/store"
)

// pageOld is the number of runs searched for the last heartbeat.
const pageOld = 100

// news returns the pending notes of the main session that no heartbeat has
// seen: those that came between the last heartbeat and this run. Other routines
// get none.
func news(ctx context.Context, r *store.Read, v chela.Routine, before chela.RunID) ([]chela.Note, error) {
	if !v.Builtin {
		return nil, nil
	}
	runs, err := r.RoutineRuns(ctx, v.ID, before, pageOld)
	if err != nil {
		return nil, err
	}
	var last time.Time
	if i := slices.IndexFunc(runs, func(run chela.RoutineRun) bool { return run.State != chela.RunSkipped }); i >= 0 {
		last = runs[i].CreatedAt
	}
	notes, err := r.Notes(ctx, chela.MainKey(v.Agent), queue.MaxNotes)
	return slices.DeleteFunc(notes, func(n chela.Note) bool { return !n.CreatedAt.After(last) }), err
}

// newsText is the section of a prompt that shows notes.
func newsText(notes []chela.Note) string {
	if len(notes) == 0 {
		return ""
	}
	return "\n\nNew since the last heartbeat, and not yet reported to your person. Report the important points.\n" +
		rule.Fenced("notes", queue.Notes(notes))
}
