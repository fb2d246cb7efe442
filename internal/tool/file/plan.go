package file

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/tool/workspace"
)

// A plan is the result of a patch, computed in memory: nothing is written until
// every edit is known to fit.
type plan struct {
	names  []string // files in order of first use
	before map[string]workspace.PathState
	after  map[string]*string // content; nil for none
}

// A refusal is a patch that cannot be applied; its text, of several lines, is
// for the model.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// makePlan computes a plan.
func makePlan(ctx context.Context, ws *workspace.Workspace, in patchInput) (*plan, error) {
	edits, err := readEdits(in)
	if err != nil {
		return nil, &refusal{err.Error()}
	}
	p := &plan{before: map[string]workspace.PathState{}, after: map[string]*string{}}
	for _, e := range edits {
		if err := p.add(ctx, ws, e); err != nil {
			return nil, err
		}
	}
	if len(p.changes()) == 0 {
		return nil, &refusal{"the patch changes nothing: the result is what the files hold already"}
	}
	return p, nil
}

// add applies one edit to the plan.
func (p *plan) add(ctx context.Context, ws *workspace.Workspace, e edit) error {
	from, err := p.load(ctx, ws, e.from)
	if err != nil {
		return err
	}
	to, err := p.load(ctx, ws, e.to)
	if err != nil {
		return err
	}
	var content string
	switch {
	case from == "":
	case p.after[from] == nil:
		return chela.E(chela.NotFound, workspace.Show(from)+" does not exist").WithHint("use write_file to make it, or --- /dev/null in a patch")
	default:
		content = *p.after[from]
	}
	if to != from && p.after[to] != nil {
		return &refusal{workspace.Show(to) + " exists already; a patch for it begins with --- " + to + ", or delete it first"}
	}
	result, err := e.apply(content)
	if err != nil {
		return &refusal{workspace.Show(cmp.Or(to, from)) + ": " + err.Error()}
	}
	if to == "" && result != "" {
		return &refusal{workspace.Show(from) + ": the patch deletes the file, but not all of its lines; read the file again"}
	}
	if from != "" {
		p.after[from] = nil
	}
	if to != "" {
		p.after[to] = &result
	}
	return nil
}

// load returns the name of a file, and reads the file on its first use. No path
// has no name.
func (p *plan) load(ctx context.Context, ws *workspace.Workspace, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	name, err := workspace.Clean(path)
	if err != nil || slices.Contains(p.names, name) {
		return name, err
	}
	is, err := ws.Find(ctx, name)
	if err != nil {
		return "", err
	}
	if notText(is.Content[:min(len(is.Content), sniffed)]) != "" {
		return "", chela.E(chela.Invalid, workspace.Show(name)+" is not a text file")
	}
	p.names, p.before[name] = append(p.names, name), is
	if is.Exists {
		p.after[name] = new(string(is.Content))
	}
	return name, nil
}

// changes returns the files to write.
func (p *plan) changes() []workspace.Change {
	var changes []workspace.Change
	for _, name := range p.names {
		before, after := p.before[name], p.after[name]
		switch {
		case after == nil && before.Exists:
			changes = append(changes, workspace.Change{Name: name, Delete: true})
		case after != nil && !(before.Exists && *after == string(before.Content)):
			changes = append(changes, workspace.Change{Name: name, Content: []byte(*after)})
		}
	}
	return changes
}

// preimages stores the old and the new content of each file.
func (p *plan) preimages(ctx context.Context, keep workspace.KeepFunc) ([]chela.Preimage, error) {
	var kept []chela.Preimage
	for _, c := range p.changes() {
		preimage, err := p.before[c.Name].Preimage(ctx, keep, c)
		if err != nil {
			return nil, err
		}
		kept = append(kept, preimage)
	}
	return kept, nil
}

// report describes the changes, one line for each file.
func (p *plan) report() string {
	var b strings.Builder
	for _, c := range p.changes() {
		shown := workspace.Show(c.Name)
		before := p.before[c.Name]
		switch {
		case c.Delete:
			fmt.Fprintf(&b, "deleted %s\n", shown)
		case !before.Exists:
			fmt.Fprintf(&b, "made %s: %d lines\n", shown, countLines(string(c.Content)))
		default:
			fmt.Fprintf(&b, "changed %s: %d lines, %d before\n", shown, countLines(string(c.Content)), countLines(string(before.Content)))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
