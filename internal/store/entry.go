package store

import (
	"cmp"
	"context"
	"slices"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const entryColumns = `id, thread, parent, turn, seq, kind, body, tokens, created_at`

func scanEntry(row engine.Row) (e chela.Entry, err error) {
	err = row.Scan(&e.ID, &e.Thread, &e.Parent, &e.Turn, &e.Seq, &e.Kind, rows.JSON(&e.Body), &e.Tokens, rows.Time(&e.CreatedAt))
	return e, err
}

// Entry returns the entry with the given id, or NotFound.
func (r *Read) Entry(ctx context.Context, id chela.EntryID) (chela.Entry, error) {
	return rows.One(ctx, r.tx, scanEntry, "entry", string(id),
		`select `+entryColumns+` from entries where id = $1`, string(id))
}

// Entries returns up to limit entries of a thread, on every branch, whose
// sequence is greater than after, in order.
func (r *Read) Entries(ctx context.Context, thread chela.ThreadID, after int64, limit int) ([]chela.Entry, error) {
	return rows.All(ctx, r.tx, scanEntry,
		`select `+entryColumns+` from entries where thread = $1 and seq > $2 order by seq limit $3`,
		string(thread), after, limit)
}

// pathPage is how many entries Path reads at a time.
const pathPage = 512

// Path returns the whole conversation that ends at head: the entries from the
// root on, whichever threads they belong to.
func (r *Read) Path(ctx context.Context, head chela.EntryID) ([]chela.Entry, error) {
	var path []chela.Entry
	for next := head; next != ""; next = path[len(path)-1].Parent {
		e, err := r.onPath(ctx, next)
		if err != nil {
			return nil, err
		}
		if path, err = r.within(ctx, e, path); err != nil {
			return nil, err
		}
	}
	slices.Reverse(path)
	return path, nil
}

// within appends e and what it hangs under, as far as that is in the thread of
// e, newest first. Entries of other branches are read and passed over.
func (r *Read) within(ctx context.Context, e chela.Entry, path []chela.Entry) ([]chela.Entry, error) {
	path = append(path, e)
	for next, before := e.Parent, e.Seq; next != ""; {
		page, err := rows.All(ctx, r.tx, scanEntry,
			`select `+entryColumns+` from entries where thread = $1 and seq < $2 order by seq desc limit $3`,
			string(e.Thread), before, pathPage)
		if err != nil {
			return nil, err
		}
		for _, older := range page {
			if older.ID == next {
				path = append(path, older)
				next = older.Parent
			}
		}
		if len(page) < pathPage {
			break
		}
		before = page[len(page)-1].Seq
	}
	return path, nil
}

// onPath returns an entry that another one hangs under, or that is a head.
func (r *Read) onPath(ctx context.Context, id chela.EntryID) (chela.Entry, error) {
	e, err := r.Entry(ctx, id)
	if chela.KindOf(err) == chela.NotFound {
		return e, broken(id)
	}
	return e, err
}

func broken(id chela.EntryID) error {
	return chela.E(chela.Internal, "the journal lacks entry "+string(id))
}

// PromptPath returns what of the conversation that ends at head can be in a
// prompt, oldest first: all of it, or once it was compacted what the newest
// compaction pinned and then everything from its first kept entry on. Nothing
// older is read.
func (r *Read) PromptPath(ctx context.Context, head chela.EntryID) ([]chela.Entry, error) {
	if head == "" {
		return nil, nil
	}
	path, err := rows.All(ctx, r.tx, scanEntry, `with recursive path (at, up, kept, away) as (
			select id, parent, kept, 0 from entries where id = $1
			union all
			select e.id, e.parent, case when p.kept <> '' then p.kept else e.kept end, p.away + 1
			from path p join entries e on e.id = p.up where p.at <> p.kept
		)
		select `+entryColumns+` from path join entries on id = at order by away desc`, string(head))
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, broken(head)
	}
	kept, pinned := newestCompaction(path)
	if oldest := path[0]; oldest.ID != kept && (kept != "" || oldest.Parent != "") {
		return nil, broken(cmp.Or(oldest.Parent, kept))
	}
	whole := make([]chela.Entry, 0, len(pinned)+len(path))
	for _, id := range pinned {
		e, err := r.onPath(ctx, id)
		if err != nil {
			return nil, err
		}
		whole = append(whole, e)
	}
	return append(whole, path...), nil
}

// newestCompaction returns what the newest compaction on a path kept, or "" if
// there is none.
func newestCompaction(path []chela.Entry) (kept chela.EntryID, pinned []chela.EntryID) {
	for _, e := range slices.Backward(path) {
		if e.Body.FirstKept != "" {
			return e.Body.FirstKept, e.Body.Pinned
		}
	}
	return "", nil
}

// AppendEntry adds an entry. Its sequence must be new in its thread: a
// Conflict otherwise.
func (w *Write) AppendEntry(ctx context.Context, e chela.Entry) error {
	return w.tx.Must(ctx,
		`insert into entries (`+entryColumns+`, kept) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		string(e.ID), string(e.Thread), string(e.Parent), string(e.Turn), e.Seq, string(e.Kind), rows.Text(e.Body), e.Tokens, rows.Micros(e.CreatedAt),
		string(e.Body.FirstKept))
}

// TurnEntries returns the entries of a turn, in order.
func (r *Read) TurnEntries(ctx context.Context, turn chela.TurnID) ([]chela.Entry, error) {
	// What a turn hung under when it opened has a lower number than all of it,
	// unless the turn is the first of a branch: then it is in another thread.
	return rows.All(ctx, r.tx, scanEntry, `select `+entryColumns+` from entries
		where thread = (select thread from turns where id = $1) and turn = $1
			and seq > coalesce((select e.seq from turns t join entries e on e.id = t.base and e.thread = t.thread where t.id = $1), 0)
		order by seq`, string(turn))
}

// hiddenInRow is more than the answers in a row that a turn hides from people.
const hiddenInRow = 8

// Answer returns the newest entry of a turn that the model said to people, and
// whether there is one.
func (r *Read) Answer(ctx context.Context, t chela.Turn) (chela.Entry, bool, error) {
	newest, err := rows.All(ctx, r.tx, scanEntry, `select `+entryColumns+` from entries
		where thread = $1 and turn = $2 and kind = 'assistant'
			and seq > coalesce((select seq from entries where id = $3 and thread = $1), 0)
		order by seq desc limit $4`, string(t.Thread), string(t.ID), string(t.Base), hiddenInRow)
	for _, e := range newest {
		if !e.Body.Hidden {
			return e, true, err
		}
	}
	return chela.Entry{}, false, err
}
