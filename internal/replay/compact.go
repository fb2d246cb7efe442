package replay

import (
	"context"
	"slices"

	"chela"
	"chela/internal/compaction"
)

// compact returns the summary that the record goes on with. A strategy that the
// record does not show did not work out then.
func (p *player) compact(_ context.Context, r compaction.Request) (string, *chela.Finish, error) {
	rest := p.rest()
	if len(rest) == 0 || rest[0].Kind != chela.EntryCompaction || rest[0].Body.Strategy != r.Plan.Strategy {
		return "", nil, p.failed(rest)
	}
	if rest[0].Body.Strategy != chela.StrategySummarize {
		return rest[0].Body.Text, nil, nil
	}
	n := summaries(p.book.usage) // in the replay so far
	for _, u := range p.rec.Usage {
		if u.Purpose != compaction.Purpose {
			continue
		}
		if n == 0 {
			return rest[0].Body.Text, &chela.Finish{Usage: u.Tokens}, nil
		}
		n--
	}
	return rest[0].Body.Text, nil, nil
}

// summaries counts those that were paid for.
func summaries(rows []chela.Usage) (n int) {
	for _, u := range rows {
		if u.Purpose == compaction.Purpose {
			n++
		}
	}
	return n
}

// played returns the rows of a record without the summaries that no entry came
// of, as they could not be kept: a replay has nothing to do with them.
func played(recorded, replayed []chela.Usage) []chela.Usage {
	surplus := summaries(recorded) - summaries(replayed)
	var rows []chela.Usage
	for _, u := range slices.Backward(recorded) {
		if u.Purpose == compaction.Purpose && surplus > 0 {
			surplus--
			continue
		}
		rows = append(rows, u)
	}
	slices.Reverse(rows)
	return rows
}

// failed is why a compaction did not work out. Where the turn ended with that,
// it said why.
func (p *player) failed(rest []chela.Entry) error {
	if f := p.rec.Turn.Failure; f != nil && len(rest) == 0 && f.Limit == "" {
		return chela.E(f.Kind, f.Message)
	}
	return errLost
}

// flushed reports whether the model was asked for notes for its memory.
func flushed(rec *Record) bool {
	for _, e := range rec.Entries {
		if e.Kind == chela.EntryNote && e.Body.Note == chela.NoteFlush {
			return true
		}
	}
	return false
}
