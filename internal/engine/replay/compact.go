package replay

import (
	"context"
	"slices"

	"chela"
	"chela/internal/engine/prompt"
)

// compact plays the recorded compaction. A strategy that the record does not
// contain failed at the time.
func (p *player) compact(_ context.Context, r prompt.CompactionRequest) (string, *chela.Finish, error) {
	rest := p.rest()
	if len(rest) == 0 || rest[0].Compaction().Strategy != r.Plan.Strategy {
		return "", nil, p.failed(rest)
	}
	summary := rest[0].Text()
	if r.Plan.Strategy != chela.StrategySummarize {
		return summary, nil, nil
	}
	if n, all := len(summaries(p.book.usage)), summaries(p.rec.Usage); n < len(all) { // n in the replay so far
		return summary, &chela.Finish{Usage: all[n].Tokens}, nil
	}
	return summary, nil, nil
}

func billsSummary(u chela.Usage) bool { return u.Purpose == prompt.CompactionPurpose }

// summaries returns the billed summaries.
func summaries(rows []chela.Usage) []chela.Usage {
	return slices.DeleteFunc(slices.Clone(rows), func(u chela.Usage) bool { return !billsSummary(u) })
}

// played returns the recorded rows without billed summaries that were discarded
// because they could not be archived; a replay does not repeat those.
func played(recorded, replayed []chela.Usage) []chela.Usage {
	left := len(summaries(replayed))
	var rows []chela.Usage
	for _, u := range recorded {
		if billsSummary(u) {
			left--
		}
		if left >= 0 || !billsSummary(u) {
			rows = append(rows, u)
		}
	}
	return rows
}

// failed returns the error of a failed compaction, which is the recorded
// failure if it ended the turn.
func (p *player) failed(rest []chela.Entry) error {
	if f := p.rec.Turn.Failure; f != nil && len(rest) == 0 && f.Limit == "" {
		return chela.E(f.Kind, f.Message)
	}
	return errLost
}

// flushed reports whether the turn had a memory flush.
func flushed(rec *Record) bool {
	return slices.ContainsFunc(rec.Entries, func(e chela.Entry) bool { return e.Kind() == chela.EntryNote && e.Mark().Note == chela.NoteFlush })
}
