package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

// A plan is the result of a patch, computed in memory: nothing is written until
// every edit is known to fit.
type plan struct {
	names  []string           // files in order of first use
	before map[string]*string // content; nil for none
	after  map[string]*string
}

// A refusal is a patch that cannot be applied; its text, of several lines, is
// for the model.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// result returns the text of the call's result.
func (r *refusal) result() string { return r.text + "\nNothing was changed." }

// planFailed returns what Run returns for an error of makePlan.
func planFailed(err error) (chela.ToolResult, error) {
	var r *refusal
	if errors.As(err, &r) {
		return tool.Failed(r.result()), nil
	}
	return chela.ToolResult{}, err
}

// makePlan computes a plan. With done, the names that an earlier attempt has
// finished, edits that only touch those are skipped, and files that the attempt
// has created may exist.
func makePlan(ctx context.Context, ws *workspace.Workspace, in patchInput, done map[string]bool) (*plan, error) {
	edits, err := readEdits(in)
	if err != nil {
		return nil, &refusal{err.Error()}
	}
	p := &plan{before: map[string]*string{}, after: map[string]*string{}}
	for _, e := range edits {
		if err := p.add(ctx, ws, e, done); err != nil {
			return nil, err
		}
	}
	changed := false
	for _, name := range p.names {
		changed = changed || hashOf(p.before[name]) != hashOf(p.after[name])
	}
	if !changed && done == nil {
		return nil, &refusal{"the patch changes nothing: the result is what the files hold already"}
	}
	return p, nil
}

// add applies one edit to the plan.
func (p *plan) add(ctx context.Context, ws *workspace.Workspace, e edit, done map[string]bool) error {
	from, to, err := cleanBoth(e)
	if err != nil {
		return err
	}
	if (from == "" || done[from]) && (to == "" || done[to]) && done != nil {
		return nil
	}
	for _, name := range []string{from, to} {
		if err := p.load(ctx, ws, name); err != nil {
			return err
		}
	}
	var content string
	switch {
	case from == "":
	case p.after[from] == nil:
		return chela.E(chela.NotFound, workspace.Show(from)+" does not exist").WithHint("use write_file to make it, or --- /dev/null in a patch")
	default:
		content = *p.after[from]
	}
	if to != "" && to != from && p.after[to] != nil && !done[to] {
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

func cleanBoth(e edit) (from, to string, err error) {
	if e.from != "" {
		if from, err = workspace.Clean(e.from); err != nil {
			return "", "", err
		}
	}
	if e.to != "" {
		to, err = workspace.Clean(e.to)
	}
	return from, to, err
}

// load reads a file on its first use.
func (p *plan) load(ctx context.Context, ws *workspace.Workspace, name string) error {
	if _, known := p.before[name]; known || name == "" {
		return nil
	}
	content, err := current(ctx, ws, name)
	if err != nil {
		return err
	}
	if content != nil && notText([]byte((*content)[:min(len(*content), sniffed)])) != "" {
		return chela.E(chela.Invalid, workspace.Show(name)+" is not a text file")
	}
	p.names = append(p.names, name)
	p.before[name], p.after[name] = content, content
	return nil
}

// current returns the content of a file, nil if there is none.
func current(ctx context.Context, ws *workspace.Workspace, name string) (*string, error) {
	exists, err := ws.Exists(name)
	if err != nil {
		if chela.KindOf(err) == chela.NotFound {
			return nil, nil
		}
		return nil, err
	}
	if !exists {
		return nil, nil
	}
	content, _, err := ws.Read(ctx, name, workspace.MaxWrite)
	if err != nil {
		return nil, err
	}
	text := string(content)
	return &text, nil
}

// changes returns the files to write.
func (p *plan) changes() []workspace.Change {
	var changes []workspace.Change
	for _, name := range p.names {
		before, after := p.before[name], p.after[name]
		switch {
		case hashOf(before) == hashOf(after):
		case after == nil:
			changes = append(changes, workspace.Change{Name: name, Delete: true})
		default:
			changes = append(changes, workspace.Change{Name: name, Content: []byte(*after)})
		}
	}
	return changes
}

// preimages stores the old and the new content of each file. A file that has
// changed since the plan was made is a Conflict.
func (p *plan) preimages(ctx context.Context, ws *workspace.Workspace, keep workspace.KeepFunc) ([]chela.Preimage, error) {
	var kept []chela.Preimage
	for _, c := range p.changes() {
		was, err := ws.Find(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if was.Sum() != hashOf(p.before[c.Name]) {
			return nil, chela.E(chela.Conflict, workspace.Show(c.Name)+" was modified concurrently").WithHint("read it and try again")
		}
		preimage, err := was.Preimage(ctx, keep, c)
		if err != nil {
			return nil, err
		}
		kept = append(kept, preimage)
	}
	return kept, nil
}

func (p *plan) intent() intent {
	i := intent{Text: p.report()}
	for _, c := range p.changes() {
		i.Files = append(i.Files, intentFile{c.Name, hashOf(p.before[c.Name]), hashOf(p.after[c.Name])})
	}
	return i
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
		case before == nil:
			fmt.Fprintf(&b, "made %s: %d lines\n", shown, countLines(string(c.Content)))
		default:
			fmt.Fprintf(&b, "changed %s: %d lines, %d before\n", shown, countLines(string(c.Content)), countLines(*before))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
