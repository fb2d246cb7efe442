package vouch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
	"chela/internal/tool/workspace"
)

// Limits of the text that is shown of a file or a folder.
const (
	maxShown = 256 << 10 // bytes of a file
	maxFiles = 2000      // lines of a folder
)

// A filePlace is where a file is: its name is that of a folder that the owner trusts, a
// colon and a path, or a path in the agent's own workspace.
type filePlace struct {
	session   chela.SessionKey // whose files they are
	workspace string
	folder    string // with the colon; empty for the agent's own workspace
	path      string
}

// placeOf returns the place of a file by its name.
func placeOf(ctx context.Context, r *store.Read, agent, name string) (filePlace, error) {
	folder, path, ok := strings.Cut(name, ":")
	if ok && chela.ValidName(folder) {
		f, known, err := r.FolderOf(ctx, chela.FolderKey(agent, folder))
		if known || err != nil {
			return filePlace{session: f.Session, workspace: f.Workspace(), folder: folder + ":", path: path}, err
		}
	}
	return filePlace{session: chela.MainKey(agent), workspace: agent, path: name}, nil
}

// fileLabels returns the labels of the files in all workspaces of an agent, with the
// names of the files as paths.
func fileLabels(ctx context.Context, r *store.Read, agent string) ([]chela.FileLabel, error) {
	all, err := r.FileLabels(ctx, agent)
	if err != nil {
		return nil, err
	}
	folders, err := r.Folders(ctx)
	for _, f := range folders {
		if f.Agent != agent || err != nil {
			continue
		}
		var labels []chela.FileLabel
		labels, err = r.FileLabels(ctx, f.Workspace())
		for _, l := range labels {
			l.Path = f.Name + ":" + l.Path
			all = append(all, l)
		}
	}
	return all, err
}

// file returns a file with its label, or a folder or all files that share one. It is
// NotFound without a label of that name: other files count as the owner's.
func (vs *Vouches) file(ctx context.Context, agent, name string) (t api.LabelledText, err error) {
	var at filePlace
	var labels []chela.FileLabel
	err = vs.store.Read(ctx, func(r *store.Read) error {
		if at, err = placeOf(ctx, r, agent, name); err != nil {
			return err
		}
		labels, err = r.FileLabels(ctx, at.workspace)
		return err
	})
	if err != nil {
		return t, err
	}
	name = at.path
	if !strings.HasPrefix(name, chela.EveryFile) {
		if name, err = workspace.Clean(name); err != nil {
			return t, err
		}
	}
	found := slices.IndexFunc(labels, func(l chela.FileLabel) bool { return l.Path == name })
	if found < 0 {
		return t, unlabelled(labels, name)
	}
	t = api.LabelledText{Kind: chela.TextFile, Agent: agent, Name: at.folder + name, Provenance: labels[found].Provenance}
	ws, err := vs.cfg.Workspace.Open(ctx, workspace.Owner{Agent: agent, Session: at.session, Principal: chela.PrincipalOwner})
	if err != nil {
		return t, err
	}
	defer ws.Close() // read only
	sum := sha256.New()
	if strings.HasPrefix(name, chela.EveryFile) {
		name = "."
	}
	if t.Text, t.Cut, err = text(ctx, ws.FS(), name, sum); err != nil {
		return t, chela.Ef(chela.NotFound, "%s cannot be read", workspace.Show(name)).
			WithHint("if it is gone, its label concerns nothing").Because(err)
	}
	t.Version = hex.EncodeToString(sum.Sum(nil))[:16]
	return t, nil
}

// unlabelled is the error for a file without a label of its own.
func unlabelled(labels []chela.FileLabel, name string) error {
	for _, l := range labels {
		if strings.HasPrefix(l.Path, chela.EveryFile) || strings.HasPrefix(name, l.Path+"/") {
			return chela.Ef(chela.NotFound, "%s has no label of its own", workspace.Show(name)).WithHint("it has that of " + l.Path + ": vouch for that")
		}
	}
	return chela.Ef(chela.NotFound, "%s has no label: it counts as the owner's", workspace.Show(name)).WithHint("see chela trust list")
}

// text returns the visible text of a file, or the list of the files below a folder,
// and whether there is more than that. Sum gets all of the contents.
func text(ctx context.Context, files fs.FS, name string, sum hash.Hash) (_ string, cut bool, _ error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return "", false, err
	}
	if !info.IsDir() {
		begin, _, err := read(files, name, sum)
		shown := excerpt.Marked(string(begin), maxShown)
		if utf8.ValidString(shown) && !bytes.ContainsRune(begin, 0) {
			return excerpt.Visible(shown), len(begin) > maxShown, err
		}
		return fmt.Sprintf("(%d bytes that are not text)", info.Size()), true, err
	}
	var lines []string
	err = fs.WalkDir(files, name, func(file string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || !d.Type().IsRegular() {
			return err
		}
		one := sha256.New()
		_, size, err := read(files, file, one)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%x  %s (%d bytes)\n", one.Sum(nil)[:8], excerpt.Visible(path.Clean(file)), size)
		fmt.Fprintf(sum, "%x %q\n", one.Sum(nil), file)
		lines = append(lines, line)
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	shown := lines[:min(len(lines), maxFiles)]
	return strings.Join(shown, ""), len(shown) < len(lines), err
}

// read writes a regular file to sum, and returns the beginning of its content and its
// size.
func read(files fs.FS, name string, sum hash.Hash) (begin []byte, size int64, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // read only
	begin, err = io.ReadAll(io.TeeReader(io.LimitReader(f, maxShown+1), sum))
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(sum, f)
	return begin, int64(len(begin)) + rest, err
}
