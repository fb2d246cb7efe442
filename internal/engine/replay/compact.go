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
	n := summaries(p.book.usage) // in the replay so far
	for _, u := range p.rec.Usage {
		if u.Purpose != prompt.CompactionPurpose {
			continue
		}
		if n == 0 {
			return summary, &chela.Finish{Usage: u.Tokens}, nil
		}
		n--
	}
	return summary, nil, nil
}

// summaries counts the billed summaries.
func summaries(rows []chela.Usage) (n int) {
	for _, u := range rows {
		if u.Purpose == prompt.CompactionPurpose {
			n++
		}
	}
	return n
}

// played returns the recorded rows without billed summaries that were discarded
// because they could not be archived; a replay does not repeat those.
func played(recorded, replayed []chela.Usage) []chela.Usage {
	surplus := summaries(recorded) - summaries(replayed)
	var rows []chela.Usage
	for _, u := range slices.Backward(recorded) {
		if u.Purpose == prompt.CompactionPurpose && surplus > 0 {
			surplus--
			continue
		}
		rows = append(rows, u)
	}
	slices.Reverse(rows)
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
	for _, e := range rec.Entries {
		if e.Kind() == chela.EntryNote && e.Mark().Note == chela.NoteFlush {
			return true
		}
	}
	return false
}
