package routine

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/platform/excerpt"
	"chela/internal/safety"
	"chela/internal/store"
)

// maxDocument bounds each document in the prompt of a lightweight run, in
// bytes.
const maxDocument = 20_000

// documents is the section of a prompt that shows the documents of a
// lightweight run; a missing document is named as missing. It also returns
// their provenance.
func documents(ctx context.Context, r *store.Read, v chela.Routine) (_ string, from chela.Provenance, _ error) {
	var all strings.Builder
	for _, path := range v.Action.Documents {
		doc, err := r.Document(ctx, v.Agent, path)
		switch {
		case chela.KindOf(err) == chela.NotFound:
			fmt.Fprintf(&all, "\n\nThere is no document %s.", path)
			continue
		case err != nil:
			return "", from, err
		}
		from = from.With(safety.ProvenanceOfDocument(doc.DocumentVersion))
		text := excerpt.Bytes(doc.Text, maxDocument)
		if len(text) < len(doc.Text) {
			text += "\n(cut off here)"
		}
		fmt.Fprintf(&all, "\n\nThe document %s:\n%s", path, rule.Fenced("document", text))
	}
	return all.String(), from, nil
}

// outcomeOf returns the provenance of a run's result: everything read in its
// turn or its job.
func outcomeOf(ctx context.Context, r *store.Read, v chela.Routine, run chela.RoutineRun) (chela.Provenance, error) {
	from, err := r.Provenance(ctx, run.Thread)
	from = rule.Provenance(v, run).With(from)
	if err != nil || run.Job == "" {
		return from, err
	}
	j, err := store.IfFound(r.Job(ctx, run.Job))
	if err != nil || j.ID == "" {
		return from, err
	}
	of, err := r.JobProvenance(ctx, j)
	return from.With(of), err
}
