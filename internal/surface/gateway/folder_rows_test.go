package gateway_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// site is the folder that the agent of a test works in.
var site = chela.Folder{
	Agent: "main", Name: "site", Path: "/code/site", Session: chela.FolderKey("main", "site"), TrustedBy: "cli",
	TrustedAt: time.Unix(1_700_000_000, 0).UTC(),
}

// folders are the operations on folders: there is one.
func folders() []api.Bound {
	return []api.Bound{
		api.FoldersList.Do(func(_ context.Context, _ api.Caller, q api.FolderFilter) (api.Page[chela.Folder], error) {
			return api.Cut([]chela.Folder{site}, q.After, q.Limit, chela.Folder.Workspace)
		}),
		api.FoldersTrust.Do(func(_ context.Context, c api.Caller, q api.NewFolder) (chela.Folder, error) {
			if q.Path == "/" {
				return chela.Folder{}, chela.E(chela.Denied, "/ cannot be a workspace")
			}
			f := site
			f.Path, f.TrustedBy = q.Path, c.By
			return f, nil
		}),
		api.FoldersForget.Do(func(_ context.Context, _ api.Caller, q api.FolderRef) (chela.Folder, error) {
			if q.Name != site.Name {
				return chela.Folder{}, chela.E(chela.NotFound, "there is no folder "+q.Name)
			}
			f := site
			f.ForgottenAt = f.TrustedAt
			return f, nil
		}),
		api.FoldersAttach.Do(func(_ context.Context, c api.Caller, q api.NewFolderRoot) (chela.Folder, error) {
			f := site
			f.Roots = []chela.FolderRoot{{Name: q.Name, Path: q.Body.Path, AddedBy: c.By, AddedAt: f.TrustedAt}}
			return f, nil
		}),
		api.FoldersDetach.Do(func(_ context.Context, _ api.Caller, q api.FolderRootRef) (chela.Folder, error) {
			if q.Root == "none" {
				return chela.Folder{}, chela.E(chela.NotFound, "there is no folder "+q.Root)
			}
			return site, nil
		}),
	}
}

// TestFolders: only the owner's tokens give files of the machine to agents.
func TestFolders(t *testing.T) {
	t.Parallel()
	d := run(t)
	page := decoded[api.Page[chela.Folder]](t, d.do(t, call{path: "/api/folders", secret: readSecret}), http.StatusOK)
	if len(page.Items) != 1 || page.Items[0].Name != site.Name {
		t.Errorf("listed %+v", page.Items)
	}
	trust := call{path: "/api/folders", secret: adminSecret, body: `{"path":"/code/api"}`}
	if f := decoded[chela.Folder](t, d.do(t, trust), http.StatusOK); f.Path != "/code/api" || f.TrustedBy == "" {
		t.Errorf("trusted %+v", f)
	}
	trust.body = `{"path":"/"}`
	d.do(t, trust).refused(t, http.StatusForbidden, chela.Denied)
	trust.secret = chatSecret
	d.do(t, trust).refused(t, http.StatusForbidden, chela.Denied)
	forget := call{method: http.MethodDelete, path: "/api/folders/none", secret: adminSecret}
	d.do(t, forget).refused(t, http.StatusNotFound, chela.NotFound)

	attach := call{path: "/api/folders/site/roots", secret: chatSecret, body: `{"path":"/code/lib"}`}
	d.do(t, attach).refused(t, http.StatusForbidden, chela.Denied)
	attach.secret = adminSecret
	if f := decoded[chela.Folder](t, d.do(t, attach), http.StatusOK); len(f.Roots) != 1 || f.Roots[0].Path != "/code/lib" || f.Roots[0].Name != "site" {
		t.Errorf("attached %+v", f)
	}
	detach := call{method: http.MethodDelete, path: "/api/folders/site/roots/none", secret: adminSecret}
	d.do(t, detach).refused(t, http.StatusNotFound, chela.NotFound)
}
