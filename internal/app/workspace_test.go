package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"chela"
	"chela/internal/app"
	"chela/internal/config"
	"chela/internal/tool/workspace"
)

// TestWorkspace gives each job a folder of its own, and nobody one outside of the
// home's workspaces.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	h := config.Home(t.TempDir())
	for _, tt := range []struct {
		name    string
		session chela.SessionKey
		want    string // empty where it is refused
	}{
		{"main", "agent:research:main", "workspace/research"},
		{"by hand", "", "workspace/research"},
		{"a subagent", "agent:research:subagent:job_1", "workspace/research"},
		{"a job", "agent:research:job:job_1", "workspace/research.jobs/job_1"},
		{"a topic of a job", "agent:research:job:job_1:thread:2", "workspace/research.jobs/job_1"},
		{"a job that climbs", "agent:research:job:..", ""},
		{"a job that climbs further", "agent:research:job:..%2F..", ""},
		{"a job that hides", "agent:research:job:.x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := app.WorkspaceDir(h, workspace.Owner{Agent: "research", Session: tt.session, Principal: chela.PrincipalOwner})
			if tt.want == "" {
				if chela.KindOf(err) != chela.Invalid {
					t.Errorf("%q, error %v, want a refusal", got, err)
				}
				return
			}
			if want := filepath.Join(string(h), filepath.FromSlash(tt.want)); got != want || err != nil {
				t.Errorf("%q, error %v, want %q", got, err, want)
			}
			if _, err := os.Stat(got); (err == nil) != (filepath.Base(got) == "job_1") {
				t.Errorf("the folder: %v", err)
			}
		})
	}
}

// TestWorkspaceIsTheOwners: nothing leads a guest or a group to the owner's files.
func TestWorkspaceIsTheOwners(t *testing.T) {
	t.Parallel()
	h := config.Home(t.TempDir())
	for _, session := range []chela.SessionKey{
		"agent:research:main", "agent:research:slack:group:7", "agent:research:telegram:dm:7", "agent:research:subagent:job_1", "cron:rtn_1", "",
	} {
		for _, by := range []chela.Principal{chela.PrincipalGuest, chela.PrincipalGroup, ""} {
			if got, err := app.WorkspaceDir(h, workspace.Owner{Agent: "research", Session: session, Principal: by}); chela.KindOf(err) != chela.Denied {
				t.Errorf("%q in %s: %q, error %v, want Denied", by, session, got, err)
			}
		}
	}
	got, err := app.WorkspaceDir(h, workspace.Owner{Agent: "research", Session: "agent:research:job:job_1", Principal: chela.PrincipalGuest})
	if want := filepath.Join(string(h), "workspace", "research.jobs", "job_1"); got != want || err != nil {
		t.Errorf("a guest's job works in %q, error %v, want %q", got, err, want)
	}
}
