package memory

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/excerpt"
	"chela/internal/store"
)

// MaxIdentityBytes is how much of one document goes into the system text.
const MaxIdentityBytes = 20_000

// identityDocuments are the documents that say who the agent is, in the order
// in which they stand in the system text.
var identityDocuments = []string{
	chela.DocAgents, chela.DocSoul, chela.DocIdentity, chela.DocUser, chela.DocTools, chela.DocMemory, chela.DocBootstrap,
}

// An audience is who may read along in a session.
type audience struct {
	private bool // nobody but the owner, or nobody at all
	asks    bool // the owner can be asked about first things
	works   bool // a job or a subagent: nobody talks to it, it is to do one thing
}

// audienceOf returns the audience of a session. One whose key says nothing is
// taken for a group.
func audienceOf(session chela.SessionKey) audience {
	key, err := chela.ParseSessionKey(session)
	if err != nil || key.IsGroup() {
		return audience{}
	}
	if key.Kind == chela.KeyJob || key.Kind == chela.KeySubagent {
		return audience{works: true}
	}
	direct := key.Kind == chela.KeyMain || key.Kind == chela.KeyDirect && key.Channel != api.Channel
	return audience{private: true, asks: direct}
}

// sees reports whether an audience may see a document.
func (a audience) sees(path string) bool {
	switch {
	case path == chela.DocBootstrap:
		return a.asks
	case a.works:
		return path == chela.DocAgents || path == chela.DocTools
	default:
		return a.private || !chela.IsPrivateDocument(path)
	}
}

// An Identity is what the documents of an agent say about it, as its system text
// has it.
type Identity struct {
	Text   string // empty where they say nothing
	Tokens int
}

// What is known of the documents of an agent.
type known struct {
	edits      int64 // of the documents until then
	identities map[audience]Identity
}

// Identity returns what the documents of an agent add to the system text of a
// turn in a session. An agent that never had documents gets its first ones. The
// documents are read again only when one of them has changed.
func (k *Keeper) Identity(ctx context.Context, agent string, session chela.SessionKey) (Identity, error) {
	edits, err := k.edits(ctx, agent)
	if err != nil {
		return Identity{}, err
	}
	who := audienceOf(session)
	k.mu.Lock()
	now := k.known[agent]
	k.mu.Unlock()
	if said, ok := now.identities[who]; ok && now.edits == edits {
		return said, nil
	}
	return k.read(ctx, agent, who)
}

// edits returns how often the documents were edited that say who an agent is. If
// none of them was ever written, it writes the first ones.
func (k *Keeper) edits(ctx context.Context, agent string) (int64, error) {
	count := func(r *store.Read) (int64, error) { return r.CountEdits(ctx, agent, identityDocuments...) }
	edits, err := store.Find(ctx, k.store, count)
	if err != nil || edits > 0 {
		return edits, err
	}
	if _, err := k.Seed(ctx, agent); err != nil {
		return 0, err
	}
	return store.Find(ctx, k.store, count)
}

// read reads the documents and remembers what they add for an audience.
func (k *Keeper) read(ctx context.Context, agent string, who audience) (Identity, error) {
	var edits int64
	var docs []chela.Document
	err := k.store.Read(ctx, func(r *store.Read) error {
		edits, docs = 0, nil
		for _, path := range identityDocuments {
			d, err := r.Document(ctx, agent, path)
			if chela.KindOf(err) == chela.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			edits += d.Version
			if !d.Deleted && who.sees(path) {
				docs = append(docs, d)
			}
		}
		return nil
	})
	if err != nil {
		return Identity{}, err
	}
	said := Identity{Text: framed(docs)}
	said.Tokens = k.Count(said.Text)
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.known[agent]
	if now.edits != edits {
		now.identities = nil
	}
	identities := map[audience]Identity{who: said}
	maps.Copy(identities, now.identities) // others may be looking at the old ones
	k.known[agent] = known{edits: edits, identities: identities}
	return said, nil
}

// framed returns documents one after the other, each in a frame. Nothing in a
// document looks like the end of its frame.
func framed(docs []chela.Document) string {
	var b strings.Builder
	for _, d := range docs {
		text := strings.TrimSpace(d.Text)
		if text == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(identityIntro)
		}
		fmt.Fprintf(&b, "\n\n<document path=%q>\n%s\n</document>", d.Path, strings.ReplaceAll(bounded(d.Path, text), "</document", "<\\/document"))
	}
	return b.String()
}

// identityIntro stands above the documents.
const identityIntro = "These are your own documents. They stay across conversations, and what they say about you and your owner holds; " +
	"what the owner asks for now goes before them."

// bounded returns as much of a text as there is room for, with a note where it
// was cut.
func bounded(path, text string) string {
	if len(text) <= MaxIdentityBytes {
		return text
	}
	shown := excerpt.Bytes(text, MaxIdentityBytes)
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes are shown; memory_read has the rest of %s]", shown, len(shown), len(text), path)
}
