package memory

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
	"chela/internal/safety"
	"chela/internal/store"
)

// MaxIdentityBytes bounds each document in the system prompt.
const MaxIdentityBytes = 20_000

// identityDocuments lists the identity documents in the order of the system
// prompt.
var identityDocuments = []string{
	chela.DocAgents, chela.DocSoul, chela.DocIdentity, chela.DocUser, chela.DocTools, chela.DocMemory, chela.DocBootstrap,
}

// An audience describes the readers of a session.
type audience struct {
	private bool // only the owner, or no person at all
	asks    bool // the owner is present and can be asked for an introduction
	works   bool // a job or a subagent: no person is present
}

// audienceOf returns the audience of a turn's session, given the turn's
// principal.
func audienceOf(session chela.SessionKey, by chela.Principal) audience {
	key, err := chela.ParseSessionKey(session)
	if err != nil || by != chela.PrincipalOwner {
		return audience{}
	}
	if key.Kind == chela.KeyJob || key.Kind == chela.KeySubagent {
		return audience{works: true}
	}
	direct := key.Kind == chela.KeyMain || key.Kind == chela.KeyDirect && key.Channel != api.Channel
	return audience{private: true, asks: direct}
}

// sees reports whether a document is included for an audience.
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

// An Identity is the part of the system prompt from an agent's documents.
type Identity struct {
	Text   string // empty if there are no documents
	Tokens int

	Provenance chela.Provenance // possible authors of the documents
}

// known is the cached identity of an agent.
type known struct {
	edits      int64 // count of edits that the cache includes
	changes    int64 // of all documents before the edits were last counted
	identities map[audience]Identity
}

// Identity returns the part of the system prompt from an agent's documents, for
// a turn of a session and its principal. An agent that never had documents gets
// its first ones. The result is cached until a document changes.
func (ds *Documents) Identity(ctx context.Context, agent string, session chela.SessionKey, by chela.Principal) (Identity, error) {
	changes, current := ds.store.Changes(ctx, store.TopicDocuments)
	who := audienceOf(session, by)
	ds.mu.Lock()
	now := ds.known[agent]
	ds.mu.Unlock()
	said, held := now.identities[who]
	if held && current && now.changes == changes {
		return said, nil
	}
	edits, err := ds.edits(ctx, agent)
	if err != nil {
		return Identity{}, err
	}
	if held && now.edits == edits {
		ds.confirm(agent, now, changes)
		return said, nil
	}
	return ds.read(ctx, agent, who, changes)
}

// confirm records that a cached identity was current at a number of changes.
func (ds *Documents) confirm(agent string, was known, changes int64) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if now := ds.known[agent]; now.edits == was.edits {
		now.changes = changes
		ds.known[agent] = now
	}
}

// edits returns the number of edits of the identity documents. If none was ever
// written, it writes the first ones.
func (ds *Documents) edits(ctx context.Context, agent string) (int64, error) {
	count := func(r *store.Read) (int64, error) { return r.CountEdits(ctx, agent, identityDocuments...) }
	edits, err := store.One(ctx, ds.store, count)
	if err != nil || edits > 0 {
		return edits, err
	}
	if _, err := ds.Seed(ctx, agent); err != nil {
		return 0, err
	}
	return store.One(ctx, ds.store, count)
}

// read reads the documents and caches the identity for an audience. The number of
// changes was taken before.
func (ds *Documents) read(ctx context.Context, agent string, who audience, changes int64) (Identity, error) {
	var edits int64
	var docs []chela.Document
	err := ds.store.Read(ctx, func(r *store.Read) error {
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
	for _, d := range docs {
		said.Provenance = said.Provenance.With(safety.ProvenanceOfDocument(d.DocumentVersion))
	}
	said.Tokens = ds.Count(said.Text)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	now := ds.known[agent]
	if now.edits != edits {
		now.identities = nil
	}
	identities := map[audience]Identity{who: said}
	maps.Copy(identities, now.identities) // copied, as other goroutines may be reading the old map
	ds.known[agent] = known{edits: edits, changes: changes, identities: identities}
	return said, nil
}

// framed returns the documents, each in a frame. The text of a document cannot
// contain the end of its frame.
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

// identityIntro precedes the documents.
const identityIntro = "These are your own documents. They stay across conversations, and what they say about you and your owner holds; " +
	"what the owner asks for now goes before them."

// bounded truncates a text to the limit, with a note at the cut.
func bounded(path, text string) string {
	if len(text) <= MaxIdentityBytes {
		return text
	}
	shown := excerpt.Bytes(text, MaxIdentityBytes)
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes are shown; memory_read has the rest of %s]", shown, len(shown), len(text), path)
}
