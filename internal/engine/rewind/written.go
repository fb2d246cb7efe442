package rewind

import (
	"context"
	"slices"

	"chela"
	"chela/internal/store"
	"chela/internal/tool/file"
	"chela/internal/tool/workspace"
)

// undoTool is the tool that reverses a write of the model.
const undoTool = "file_undo"

// Written returns the newest write of a file in the conversation of a thread
// that was not reversed by file_undo, or NotFound. An interrupted call is
// skipped, because its effect is unknown.
func (m *Rewinds) Written(ctx context.Context, thread chela.ThreadID, path string) (file.LastWrite, error) {
	return store.Find(ctx, m.store, func(r *store.Read) (file.LastWrite, error) {
		t, err := r.Thread(ctx, thread)
		if err != nil {
			return file.LastWrite{}, err
		}
		way := newClimb(t.Head)
		var w writes
		for seen := 0; ; {
			if err := way.further(ctx, r); err != nil {
				return file.LastWrite{}, err
			}
			for ; seen < len(way.legs); seen++ {
				calls, err := callsOf(ctx, r, leg{Segment: way.legs[seen]})
				if err != nil {
					return file.LastWrite{}, err
				}
				if w.before(calls, path) {
					return w.found, nil
				}
			}
			if way.next == "" {
				return file.LastWrite{}, chela.E(chela.NotFound, "no write of "+workspace.Show(path)+" in this conversation is left to undo").
					WithHint("change it with apply_patch or write_file")
			}
		}
	})
}

// writes traverses the writes of one file backwards.
type writes struct {
	newest  bool // a write was seen
	undone  int  // reversals not yet matched with their writes
	current string
	found   file.LastWrite
}

// before processes the next older calls. It reports whether the write was
// found.
func (w *writes) before(calls Part, path string) bool {
	for _, c := range slices.Backward(calls) {
		if c.State != chela.CallDone && !c.Observed() {
			continue
		}
		for _, p := range slices.Backward(c.Changes) {
			if p.Kind != chela.PreimageFile || p.Path != path {
				continue
			}
			if !w.newest {
				w.newest, w.current = true, p.After
			}
			switch {
			case c.Tool == undoTool:
				w.undone++
			case w.undone > 0:
				w.undone--
			default:
				w.found = file.LastWrite{Preimage: p, Now: w.current}
				return true
			}
		}
	}
	return false
}
