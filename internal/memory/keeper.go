package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/store"
)

// Config is what a keeper needs. All fields are required.
type Config struct {
	Now   func() time.Time
	Zone  *time.Location          // where the owner lives: it decides what day it is
	Count func(text string) int   // the tokens of a text
	Agent func(name string) error // NotFound for a name that is no agent's
}

// A Keeper keeps the documents of all agents. It may be used by several
// goroutines at once.
type Keeper struct {
	Config
	store *store.Store

	mu    sync.Mutex
	known map[string]known // guarded by mu; by agent
}

// New returns a keeper of the documents in a store.
func New(s *store.Store, cfg Config) *Keeper {
	return &Keeper{Config: cfg, store: s, known: map[string]known{}}
}

// Read returns a document as it is, or NotFound.
func (k *Keeper) Read(ctx context.Context, agent, path string) (chela.Document, error) {
	return k.Version(ctx, agent, path, 0)
}

// Version returns what a document said at a version, or NotFound if that is not
// kept. Version 0 is the document as it is; one that was deleted is NotFound.
func (k *Keeper) Version(ctx context.Context, agent, path string, version int64) (chela.Document, error) {
	clean, err := k.clean(agent, path)
	if err != nil {
		return chela.Document{}, err
	}
	d, err := store.Find(ctx, k.store, func(r *store.Read) (chela.Document, error) {
		if version == 0 {
			return r.Document(ctx, agent, clean)
		}
		return r.DocumentAt(ctx, agent, clean, version)
	})
	switch missing := chela.KindOf(err) == chela.NotFound; {
	case missing && version == 0:
		err = noDocument(clean)
	case missing:
		err = chela.E(chela.NotFound, fmt.Sprintf("version %d of %s is not kept", version, clean)).
			WithHint("chela memory history " + clean + " shows which are")
	case err == nil && d.Deleted && version == 0:
		return chela.Document{}, chela.E(chela.NotFound, clean+" was deleted").
			WithHint(fmt.Sprintf("chela memory read %s --version %d shows what it said", clean, d.Version-1))
	}
	return d, err
}

// clean returns the one spelling of the path of an agent's document.
func (k *Keeper) clean(agent, path string) (string, error) {
	if err := k.Agent(agent); err != nil {
		return "", err
	}
	return chela.CleanDocumentPath(path)
}

// noDocument says in words for people that there is no document at a path.
func noDocument(path string) error {
	return chela.E(chela.NotFound, "there is no document "+path).WithHint("chela memory tree shows which there are")
}

// History returns the versions that are kept of a document, newest first and
// without their texts, or NotFound if it was never written.
func (k *Keeper) History(ctx context.Context, agent, path string) ([]chela.Document, error) {
	clean, err := k.clean(agent, path)
	if err != nil {
		return nil, err
	}
	versions, err := store.Find(ctx, k.store, func(r *store.Read) ([]chela.Document, error) { return r.DocumentVersions(ctx, agent, clean) })
	if err == nil && len(versions) == 0 {
		err = noDocument(clean)
	}
	return versions, err
}

// Tree returns the documents and folders below a folder, in the order of their
// paths, down to a depth: at 1 it is what is in the folder itself, at 0 all of
// it. The empty folder is that of all documents. A folder that holds nothing is
// NotFound.
func (k *Keeper) Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error) {
	if err := k.Agent(agent); err != nil {
		return nil, err
	}
	clean, err := chela.CleanDocumentFolder(folder)
	if err != nil {
		return nil, err
	}
	docs, err := store.Find(ctx, k.store, func(r *store.Read) ([]chela.Document, error) { return r.Documents(ctx, agent, clean) })
	if err == nil && len(docs) == 0 && clean != "" {
		err = chela.E(chela.NotFound, "there is nothing below "+clean).WithHint("chela memory tree shows what there is")
	}
	return treeOf(docs, clean, depth), err
}

// treeOf returns documents as nodes, with the folders that they are in.
func treeOf(docs []chela.Document, root string, depth int) []chela.DocumentNode {
	nodes := map[string]chela.DocumentNode{}
	for _, d := range docs {
		parts := strings.SplitAfter(strings.TrimPrefix(d.Path, root), "/")
		at := root
		for i, part := range parts {
			at += part
			if depth > 0 && i >= depth {
				break
			}
			n := nodes[at]
			n.Path = at
			n.Size += d.Size
			if d.WrittenAt.After(n.WrittenAt) {
				n.WrittenAt = d.WrittenAt
			}
			if n.IsFolder() {
				n.Documents++
			} else {
				n.Version = d.Version
			}
			nodes[at] = n
		}
	}
	return slices.SortedFunc(maps.Values(nodes), func(a, b chela.DocumentNode) int { return strings.Compare(a.Path, b.Path) })
}
