package jobcopy

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"chela"
	"chela/internal/engine/folder"
	"chela/internal/platform/excerpt"
	"chela/internal/safety"
	"chela/internal/store"
	"chela/internal/tool/workspace"
)

// planApply sets the changes of the folder that apply those of a copy, and returns the
// labels that its files get.
func (cs *Copies) planApply(ctx context.Context, j chela.Job, c *folder.Copy) ([]chela.FileLabel, error) {
	at, err := cs.cfg.Folders.Source(ctx, *c)
	if err != nil {
		return nil, err
	}
	ws, err := openAt(ctx, at)
	if err != nil {
		return nil, err
	}
	defer ws.Close()                 // read only
	if c.State == chela.CopyUndone { // the labels have stayed
		return nil, allAre(ctx, ws, c.Changes, "nothing was applied")
	}
	labels, err := cs.labelsOf(ctx, j, c)
	if err != nil {
		return nil, err
	}
	made, err := cs.changesIn(ctx, *c)
	if err != nil {
		return nil, err
	}
	p := planning{copies: cs, ws: ws}
	for _, change := range made {
		if err := p.add(ctx, change); err != nil {
			return nil, err
		}
	}
	if len(p.conflicts) > 0 {
		return nil, chela.Ef(chela.Conflict, "nothing was applied: %s cannot be applied: %s", excerpt.Count(len(p.conflicts), "file"), firstOf(p.names)).
			WithHint("chela jobs files " + string(j.ID) + " PATH prints a file as the job left it").WithDetail(strings.Join(p.conflicts, "\n") + "\n")
	}
	if len(p.changes) == 0 {
		return nil, chela.Ef(chela.Conflict, "job %s changed nothing that the folder does not have", j.ID)
	}
	c.Changes = p.changes
	return cs.labelled(c, at, labels), nil
}

// changesIn returns the changes in a copy.
func (cs *Copies) changesIn(ctx context.Context, c folder.Copy) ([]chela.Preimage, error) {
	ws, err := openAt(ctx, workspace.Location{Dir: c.Dir})
	if err != nil {
		return nil, err
	}
	defer ws.Close() // read only
	return cs.cfg.Snapshots.Since(ctx, ws, c.Dir)
}

// A planning collects the changes of a folder.
type planning struct {
	copies    *Copies
	ws        *workspace.Workspace // the folder
	changes   []chela.Preimage
	names     []string // of files with conflicts
	conflicts []string // a line for each of them
}

func (p *planning) conflict(name, why string) {
	p.names = append(p.names, name)
	p.conflicts = append(p.conflicts, name+": "+why)
}

// add adds a change of the copy as one of the folder.
func (p *planning) add(ctx context.Context, c chela.Preimage) error {
	switch {
	case c.Kind == chela.PreimageOmitted && strings.Contains(c.Why, "ignore rules"):
		return nil // output of builds; the difference tells it
	case c.Kind == chela.PreimageOmitted:
		p.conflict(c.Path, c.Why)
		return nil
	case c.Kind == chela.PreimageLink && c.After != "":
		target, err := p.copies.contentOf(ctx, c.Kind, c.After)
		if err != nil {
			return err
		}
		if leadsOut(c.Path, string(target)) {
			p.conflict(c.Path, "the symbolic link leads out of the folder")
			return nil
		}
	}
	is, err := p.ws.State(ctx, c.Kind, c.Path)
	switch {
	case workspace.ByOthers(err):
		p.conflict(c.Path, chela.MessageOf(err))
	case err != nil:
		return err
	case is.Matches(c.After, c.ModeAfter) && !(is.Other && c.After != ""):
	case c.Kind == chela.PreimageFolder:
		if !is.Other {
			c.Before, c.ModeBefore = is.Sum(), uint32(is.Mode)
			p.changes = append(p.changes, c)
		} else if !p.removes(c.Path) {
			p.conflict(c.Path, "a "+is.What+" is there")
		}
	case is.Other && !p.removes(c.Path):
		p.conflict(c.Path, "a "+is.What+" is there")
	case is.Sum() == c.Before:
		if c.ModeBefore == c.ModeAfter && c.ModeAfter != 0 { // its mode is the folder's affair
			c.ModeAfter = cmp.Or(uint32(is.Mode), c.ModeAfter)
		}
		c.ModeBefore, c.Made = uint32(is.Mode), is.Made
		p.changes = append(p.changes, c)
	default:
		return p.merge(ctx, c, is)
	}
	return nil
}

// removes reports whether a change before frees a path.
func (p *planning) removes(name string) bool {
	return slices.ContainsFunc(p.changes, func(c chela.Preimage) bool { return c.Path == name && c.After == "" })
}

// leadsOut reports whether a link leads out of its folder.
func leadsOut(name, target string) bool {
	to := path.Join(path.Dir(name), strings.ReplaceAll(target, `\`, "/"))
	return path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") || strings.Contains(target, ":")
}

// maxMerged bounds a file whose lines are merged.
const maxMerged = 1 << 20

// merge adds a change of a file that the folder changed too.
func (p *planning) merge(ctx context.Context, c chela.Preimage, is workspace.PathState) error {
	switch {
	case c.Kind != chela.PreimageFile:
		p.conflict(c.Path, "it was changed in the folder too")
		return nil
	case !is.Exists:
		p.conflict(c.Path, "it was deleted in the folder")
		return nil
	case c.After == "":
		p.conflict(c.Path, "the job deleted it, and it was changed in the folder")
		return nil
	case c.Before == "":
		p.conflict(c.Path, "the job created it, and the folder has another file of that name")
		return nil
	}
	was, err := p.copies.contentOf(ctx, c.Kind, c.Before)
	if err != nil {
		return err
	}
	now, err := p.copies.contentOf(ctx, c.Kind, c.After)
	if err != nil {
		return err
	}
	merged, why := mergeLines(was, now, is.Content)
	if why != "" {
		p.conflict(c.Path, why)
		return nil
	}
	if c.After, err = p.copies.cfg.Keep(ctx, merged); err != nil {
		return err
	}
	if c.ModeBefore == c.ModeAfter {
		c.ModeAfter = uint32(is.Mode)
	}
	if c.Before, err = p.copies.cfg.Keep(ctx, is.Content); err != nil {
		return err
	}
	c.ModeBefore = uint32(is.Mode)
	p.changes = append(p.changes, c)
	return nil
}

// mergeLines merges two changes of a text, or returns why that is impossible: it is not
// text, or they change the same lines or lines side by side.
func mergeLines(was, a, b []byte) (merged []byte, why string) {
	for _, text := range [][]byte{was, a, b} {
		if isBinary(text) || len(text) > maxMerged {
			return nil, "it was changed in the folder too, and is no text that can be merged"
		}
	}
	ours, others := udiff.Lines(string(was), string(a)), udiff.Lines(string(was), string(b))
	for _, x := range ours {
		for _, y := range others {
			if x.Start <= y.End && y.Start <= x.End && x != y {
				return nil, fmt.Sprintf("the folder changed the same lines, at line %d", 1+strings.Count(string(was[:max(x.Start, y.Start)]), "\n"))
			}
		}
	}
	all, ok := udiff.Merge(ours, others)
	if !ok {
		return nil, "the folder changed the same lines"
	}
	text, err := udiff.Apply(string(was), all)
	if err != nil {
		return nil, "its changes cannot be merged"
	}
	return []byte(text), ""
}

// labelsOf returns the labels of the files in a copy.
func (cs *Copies) labelsOf(ctx context.Context, j chela.Job, c *folder.Copy) ([]chela.FileLabel, error) {
	known, err := cs.cfg.Labels.FileLabels(ctx, c.Workspace())
	if err != nil {
		return nil, err
	}
	from, err := store.Get(ctx, cs.store, (*store.Read).JobProvenance, j)
	if err == nil && from.BelowFolder() {
		known = append(known, chela.FileLabel{Path: ".", Provenance: safety.Label("job", from)})
	}
	return known, err
}

// labelled returns the labels of the files that a folder takes from a copy.
func (cs *Copies) labelled(c *folder.Copy, at workspace.Location, known []chela.FileLabel) (all []chela.FileLabel) {
	for _, p := range c.Changes {
		if p.After == "" || p.Kind == chela.PreimageFolder {
			continue
		}
		if from := labelOf(known, p.Path); from.BelowFolder() {
			all = append(all, chela.FileLabel{Workspace: at.Name, Path: p.Path, Provenance: safety.Label("file", from), CreatedAt: cs.moment()})
		}
	}
	return all
}

// labelOf returns the label of a file among those of its workspace: its own, and those of
// its folders and of all files.
func labelOf(known []chela.FileLabel, name string) (from chela.Provenance) {
	for _, l := range known {
		if l.Path == "." || l.Path == name || strings.HasPrefix(name, l.Path+"/") || strings.HasPrefix(l.Path, chela.EveryFile) {
			from = from.With(l.Provenance)
		}
	}
	return from
}
