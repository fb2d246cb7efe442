package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkFolders: folders are found by their sessions, listed by agent and name, and
// change whom they are trusted by; names and paths are unique for an agent.
func checkFolders(t *testing.T, s *store.Store) {
	ctx := t.Context()
	at := time.UnixMicro(1_700_000_000_000_001).UTC()
	folder := func(agent, name string) chela.Folder {
		return chela.Folder{Agent: agent, Name: name, Path: "/code/" + name, Session: chela.FolderKey(agent, name), TrustedBy: "cli", TrustedAt: at}
	}
	main, site, other := folder("main", "api"), folder("main", "site"), folder("other", "api")
	for _, f := range []chela.Folder{site, other, main} {
		write(t, s, func(w *store.Write) error { return w.AddFolder(ctx, f) })
	}
	all := func(r *store.Read) ([]chela.Folder, error) { return r.Folders(ctx) }
	same(t, []chela.Folder{main, site, other}, read(t, s, all))
	for _, twin := range []chela.Folder{folder("main", "site"), {Agent: "main", Name: "new", Path: site.Path, Session: "agent:main:main:thread:new", TrustedAt: at}} {
		if err := s.Write(ctx, "test", func(w *store.Write) error { return w.AddFolder(ctx, twin) }); err == nil {
			t.Errorf("a second folder %+v was added", twin)
		}
	}
	site.ForgottenAt, site.TrustedBy = at.Add(time.Second), "owner"
	site.Roots = []chela.FolderRoot{{Name: "lib", Path: "/code/lib", AddedBy: "cli", AddedAt: at}}
	write(t, s, func(w *store.Write) error { return w.SaveFolder(ctx, site) })
	same(t, []chela.Folder{main, site, other}, read(t, s, all))
	for key, want := range map[chela.SessionKey]bool{site.Session: true, "agent:main:main": false} {
		found := read(t, s, func(r *store.Read) (bool, error) {
			f, ok, err := r.FolderOf(ctx, key)
			if ok {
				same(t, site, f)
			}
			return ok, err
		})
		if found != want {
			t.Errorf("%s works in a folder: %v", key, found)
		}
	}
	refuse(t, s, chela.Conflict, func(w *store.Write) error {
		return w.SaveFolder(ctx, chela.Folder{Session: "agent:main:main:thread:none"})
	})
}
