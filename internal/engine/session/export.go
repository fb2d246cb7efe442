package session

import (
	"context"
	"io"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/transcript"
	"chela/internal/store"
)

// Export writes a transcript of a thread. The content is read in one snapshot
// before anything is written. Combining All and Compacted is Invalid.
func (ss *Sessions) Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error {
	if how.All && how.Compacted {
		return chela.E(chela.Invalid, "a compacted transcript has no branches").WithHint("leave out one of the two")
	}
	t, err := store.Find(ctx, ss.store, func(r *store.Read) (transcript.Transcript, error) { return read(ctx, r, id, how) })
	if err != nil {
		return err
	}
	var load transcript.LoadFunc
	if how.Attachments {
		load = ss.cfg.Blobs.Load
	}
	return transcript.Write(ctx, to, t, load)
}

// read loads the thread to be exported.
func read(ctx context.Context, r *store.Read, id chela.ThreadID, how api.Export) (t transcript.Transcript, err error) {
	thread, err := r.Thread(ctx, id)
	if err != nil {
		return t, err
	}
	t = transcript.Transcript{
		Session: thread.Session, Thread: id, Title: thread.Title, CreatedAt: thread.CreatedAt, Head: thread.Head, Compacted: how.Compacted,
	}
	if how.Compacted {
		t.Entries, err = r.PromptPath(ctx, thread.Head)
		chain(t.Entries)
	} else {
		t.Entries, err = r.Path(ctx, thread.Head)
	}
	if err == nil && how.All {
		t.Entries, err = branches(ctx, r, thread, t.Entries)
	}
	seen := map[chela.TurnID]bool{}
	for _, e := range t.Entries {
		if err != nil || seen[e.Turn] {
			continue
		}
		var turn chela.Turn
		turn, err = r.Turn(ctx, e.Turn)
		seen[e.Turn], t.Turns = true, append(t.Turns, turn)
	}
	return t, err
}

// chain links entries in their order: a compacted prompt is not a path, because
// entries between were removed.
func chain(entries []chela.Entry) {
	var parent chela.EntryID
	for i := range entries {
		entries[i].Parent = parent
		parent = entries[i].ID
	}
}

// branches returns the path of a thread and all its other entries, parents
// first.
func branches(ctx context.Context, r *store.Read, thread chela.Thread, path []chela.Entry) ([]chela.Entry, error) {
	var all []chela.Entry
	known := map[chela.EntryID]bool{"": true}
	for _, e := range path {
		if e.Thread != thread.ID { // from the origin of a branched thread
			all = append(all, e)
			known[e.ID] = true
		}
	}
	for after := int64(0); ; {
		entries, err := r.Entries(ctx, thread.ID, after, page)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			above, err := missing(ctx, r, e.Parent, known)
			if err != nil {
				return nil, err
			}
			for _, e := range append(above, e) {
				all = append(all, e)
				known[e.ID] = true
			}
		}
		if len(entries) < page {
			return all, nil
		}
		after = entries[len(entries)-1].Seq
	}
}

// missing returns the unknown part of the path to an entry of another thread.
func missing(ctx context.Context, r *store.Read, id chela.EntryID, known map[chela.EntryID]bool) (path []chela.Entry, err error) {
	if known[id] {
		return nil, nil
	}
	if path, err = r.Path(ctx, id); err != nil {
		return nil, err
	}
	for len(path) > 0 && known[path[0].ID] {
		path = path[1:]
	}
	return path, nil
}
