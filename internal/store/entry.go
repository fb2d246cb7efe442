package store

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store/engine"
)

const entryColumns = `id, thread, parent, turn, seq, kind, body, tokens, created_at`

func scanEntry(row engine.Row) (e chela.Entry, err error) {
	err = row.Scan(&e.ID, &e.Thread, &e.Parent, &e.Turn, &e.Seq, &e.Kind, inJSON{&e.Body}, &e.Tokens, stored{&e.CreatedAt})
	return e, err
}

// Entry returns the entry with the given id, or NotFound.
func (r *Read) Entry(ctx context.Context, id chela.EntryID) (chela.Entry, error) {
	return one(ctx, r, scanEntry, "entry", string(id),
		`select `+entryColumns+` from entries where id = $1`, string(id))
}

// Entries returns up to limit entries of a thread, on every branch, whose
// sequence is greater than after, in order.
func (r *Read) Entries(ctx context.Context, thread chela.ThreadID, after int64, limit int) ([]chela.Entry, error) {
	return all(ctx, r, scanEntry,
		`select `+entryColumns+` from entries where thread = $1 and seq > $2 order by seq limit $3`,
		string(thread), after, limit)
}

// pathPage is how many entries Path reads at a time.
const pathPage = 512

// Path returns the conversation of a thread: the entries from the root to
// head, which is usually the thread's. Entries of other branches are read and
// passed over.
func (r *Read) Path(ctx context.Context, thread chela.ThreadID, head chela.EntryID) ([]chela.Entry, error) {
	var path []chela.Entry
	next := head
	before := int64(1) << 62
	for next != "" {
		page, err := all(ctx, r, scanEntry,
			`select `+entryColumns+` from entries where thread = $1 and seq < $2 order by seq desc limit $3`,
			string(thread), before, pathPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.ID == next {
				path = append(path, e)
				next = e.Parent
			}
		}
		if len(page) < pathPage {
			break
		}
		before = page[len(page)-1].Seq
	}
	if next != "" {
		return nil, chela.E(chela.Internal, "thread "+string(thread)+" lacks entry "+string(next))
	}
	slices.Reverse(path)
	return path, nil
}

// AppendEntry adds an entry. Its sequence must be new in its thread: a
// Conflict otherwise.
func (w *Write) AppendEntry(ctx context.Context, e chela.Entry) error {
	return w.must(ctx,
		`insert into entries (`+entryColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		string(e.ID), string(e.Thread), string(e.Parent), string(e.Turn), e.Seq, string(e.Kind), asJSON(e.Body), e.Tokens, micros(e.CreatedAt))
}

// TurnEntries returns the entries of a turn, in order.
func (r *Read) TurnEntries(ctx context.Context, turn chela.TurnID) ([]chela.Entry, error) {
	// What a turn hung under when it opened has a lower number than all of it.
	return all(ctx, r, scanEntry, `select `+entryColumns+` from entries
		where thread = (select thread from turns where id = $1) and turn = $1
			and seq > coalesce((select e.seq from turns t join entries e on e.id = t.base where t.id = $1), 0)
		order by seq`, string(turn))
}

// Answer returns the newest entry of a turn that the model said, and whether
// there is one.
func (r *Read) Answer(ctx context.Context, t chela.Turn) (chela.Entry, bool, error) {
	return first(ctx, r, scanEntry, `select `+entryColumns+` from entries
		where thread = $1 and turn = $2 and kind = 'assistant'
			and seq > coalesce((select seq from entries where id = $3), 0)
		order by seq desc limit 1`, string(t.Thread), string(t.ID), string(t.Base))
}
