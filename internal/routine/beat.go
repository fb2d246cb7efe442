package routine

import (
	"context"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/routine/rule"
	"chela/internal/store"
)

const (
	maxNews = 50    // notes that a heartbeat looks at, the newest
	maxNote = 2_000 // bytes of one that are shown
	pageOld = 100   // runs among which the last look is
)

// news returns the notes that the main session waits to be told of, as far as a
// heartbeat has not seen them: those that came after it looked around last, before a
// run. Other routines see none.
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
	notes, err := r.Notes(ctx, chela.MainKey(v.Agent), maxNews)
	return slices.DeleteFunc(notes, func(n chela.Note) bool { return !n.CreatedAt.After(last) }), err
}

// newsText is the part of a prompt that shows notes.
func newsText(notes []chela.Note) string {
	if len(notes) == 0 {
		return ""
	}
	var lines []string
	for _, n := range notes {
		lines = append(lines, "- ["+n.From+"] "+excerpt.Bytes(n.Text, maxNote))
	}
	return "\n\nThis came since the last heartbeat; your person has not heard of it. Tell what matters of it.\n" +
		rule.Fenced("notes", strings.Join(lines, "\n"))
}
