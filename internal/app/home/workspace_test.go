package home_test

import (
	"os"
	"path/filepath"
	"testing"

	"chela"
	"chela/internal/app/home"
	"chela/internal/config/place"
	"chela/internal/tool/workspace"
)

// TestWorkspace gives each job a folder of its own, and nobody one outside of the
// home's workspaces.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	h := place.Home(t.TempDir())
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
			got, err := home.Workspace(h, workspace.Owner{Agent: "research", Session: tt.session})
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
