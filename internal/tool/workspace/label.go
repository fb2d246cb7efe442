package workspace

// This part of the package labels files (see chela.Provenance). Files of a
// workspace have the label of a folder that the owner trusts as data, except for
// those that a call wrote while its prompt, or its own result, held text below
// folder. Their label stays until the owner trusts them, whoever changes them.
//
//   - A tool that names its files labels them before it writes. Reading one, or
//     listing a folder with one in it, gives the result its label.
//   - A command may read and write every file: its result has the labels of all
//     that exist, and with one of them, or such a prompt, the files that it
//     changed get it, or their folders. A command that the process did not survive
//     labels all.
//   - The workspace of a job has no labels: only the threads of the job use it,
//     and they have their own.
//
// A file that people move or copy by other programs loses its label.

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/safety"
)

// maxStamped is the number of files of a workspace that are compared before and
// after a command; a command in a larger one changes every file.
const maxStamped = 200_000

// maxLabels is the number of labels that one command adds; where it changed more
// files, their folders are labelled.
const maxLabels = 256

// labels stores the labels of files. It is safe for concurrent use.
type labels interface {
	FileLabels(ctx context.Context, agent string) ([]chela.FileLabel, error)
	AddFileLabels(ctx context.Context, labels ...chela.FileLabel) error
	RemoveFileLabel(ctx context.Context, agent, path string) error
}

// A labeller labels the results and files of calls.
type labeller struct {
	find  Finder
	store labels
	now   func() time.Time
}

// Labelled returns middleware for tools that work on files: file tools, commands
// and downloads. A failure of the store is chela.ErrLater for calls that may run
// again.
func Labelled(find Finder, store labels, now func() time.Time) func(chela.Tool) chela.Tool {
	l := labeller{find, store, now}
	return func(t chela.Tool) chela.Tool {
		inner := t
		t.Run = func(ctx context.Context, call chela.ToolCall) (chela.ToolResult, error) {
			return l.run(ctx, inner, call)
		}
		return t
	}
}

func (l labeller) run(ctx context.Context, t chela.Tool, call chela.ToolCall) (chela.ToolResult, error) {
	key, err := chela.ParseSessionKey(call.Session)
	if err == nil && key.Kind == chela.KeyJob {
		return t.Run(ctx, call)
	}
	ws, err := l.find.Open(OwnerOf(call))
	if err != nil { // the tool says so
		return t.Run(ctx, call)
	}
	defer ws.Close() // read only
	j := t.Judge(call.Args)
	known, err := l.store.FileLabels(ctx, call.Agent)
	if err != nil {
		return chela.ToolResult{}, err
	}
	names := files(j)
	read := ws.labelOf(known, names, j.Effect == chela.EffectExecute)
	from := call.Provenance.With(read).With(sourceOf(t, j))
	done := func(context.Context) error { return nil }
	if from.BelowFolder() && j.Effect != chela.EffectRead {
		if done, err = l.before(ctx, ws, change{call: call, names: names, runs: j.Effect == chela.EffectExecute, from: from}); err != nil {
			return chela.ToolResult{}, err
		}
	}
	res, err := t.Run(ctx, call)
	if len(names) > 0 || j.Effect == chela.EffectExecute {
		res.Provenance = res.Provenance.With(read).With(safety.Folder())
	}
	if labelErr := done(context.WithoutCancel(ctx)); err == nil { // the files are there, whoever waits
		err = labelErr
	}
	return res, err
}

// A change is a call that writes text with a label.
type change struct {
	call  chela.ToolCall
	names []string // files
	runs  bool     // it is a command: it may write others
	from  chela.Provenance
}

// before labels the files that a call is about to write, and returns the function
// that labels those that a command wrote.
func (l labeller) before(ctx context.Context, ws *Workspace, c change) (done func(context.Context) error, err error) {
	label := func(name string) chela.FileLabel {
		return chela.FileLabel{Agent: c.call.Agent, Path: name, Provenance: c.from, CreatedAt: l.now()}
	}
	if !c.runs {
		var all []chela.FileLabel
		for _, name := range c.names {
			all = append(all, label(name))
		}
		return func(context.Context) error { return nil }, l.store.AddFileLabels(ctx, all...)
	}
	every := label(chela.EveryFile + string(c.call.ID))
	if err := l.store.AddFileLabels(ctx, every); err != nil {
		return nil, err
	}
	before, ok := ws.stamps(ctx)
	return func(ctx context.Context) error {
		after, still := ws.stamps(ctx)
		if !ok || !still {
			return nil // the label of every file stays
		}
		var changed []string
		for name, s := range after {
			if was, is := before[name]; !is || was != s {
				changed = append(changed, name)
			}
		}
		names, ok := folded(changed)
		if !ok {
			return nil
		}
		var all []chela.FileLabel
		for _, name := range names {
			all = append(all, label(name))
		}
		if err := l.store.AddFileLabels(ctx, all...); err != nil {
			return err
		}
		return l.store.RemoveFileLabel(ctx, every.Agent, every.Path)
	}, nil
}

// folded returns names, or as many of their deepest folders as there may be labels.
// It reports false for changes in too many folders.
func folded(names []string) ([]string, bool) {
	depth := 0
	for _, name := range names {
		depth = max(depth, strings.Count(name, "/"))
	}
	for ; len(names) > maxLabels && depth > 0; depth-- {
		folders := map[string]bool{}
		for _, name := range names {
			parts := strings.SplitN(name, "/", depth+1)
			folders[strings.Join(parts[:min(depth, len(parts))], "/")] = true
		}
		names = slices.Collect(maps.Keys(folders))
	}
	slices.Sort(names)
	return names, len(names) <= maxLabels
}

// stamps returns a stamp of each file, or false if it cannot.
func (w *Workspace) stamps(ctx context.Context) (map[string]stamp, bool) {
	all := map[string]stamp{}
	err := fs.WalkDir(w.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s, ok := stampOf(info)
		if !ok || len(all) >= maxStamped || ctx.Err() != nil {
			return fs.ErrInvalid
		}
		all[name] = s
		return nil
	})
	return all, err == nil
}

// files returns the names of the files among the subjects of a call: "." for one
// that cannot be told.
func files(j chela.Judgement) (names []string) {
	for _, s := range j.Subjects {
		if j.Effect == chela.EffectExecute || s != Dir && !strings.HasPrefix(s, Dir+"/") && !strings.HasPrefix(s, `"`+Dir) {
			continue
		}
		name, err := Clean(s)
		if err != nil || strings.HasPrefix(s, `"`) {
			name = "."
		}
		names = append(names, name)
	}
	return names
}

// sourceOf returns the label of a tool's own results.
func sourceOf(t chela.Tool, j chela.Judgement) chela.Provenance {
	switch {
	case t.Own && j.Effect == chela.EffectExecute && j.Carries:
		return safety.Outside("the network of a command")
	case t.Own:
		return chela.Provenance{}
	case len(j.Subjects) == 0:
		return safety.Outside(t.Name)
	}
	_, source, ok := strings.Cut(j.Subjects[0], " ")
	if !ok {
		source = j.Subjects[0]
	}
	return safety.Outside(source)
}

// labelOf returns the combined label of files: those with the given names, those
// below folders of these names, or all.
func (w *Workspace) labelOf(known []chela.FileLabel, names []string, all bool) (p chela.Provenance) {
	for _, l := range known {
		every := strings.HasPrefix(l.Path, chela.EveryFile)
		meets := all || slices.ContainsFunc(names, func(name string) bool {
			return every || name == "." || inFolder(l.Path, name) || inFolder(name, l.Path) || w.throughLink(name)
		})
		if !meets {
			continue
		}
		if _, err := w.root.Lstat(l.Path); err == nil || every {
			p = p.With(l.Provenance)
		}
	}
	return p
}

// inFolder reports whether a name is a folder's, or of something in it.
func inFolder(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// throughLink reports whether a name leads through a symbolic link, to a file
// with another name.
func (w *Workspace) throughLink(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if info, err := w.root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
