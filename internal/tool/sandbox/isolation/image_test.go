package isolation_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela/internal/tool/sandbox/docker"
	"chela/internal/tool/sandbox/isolation"
)

// TestReportOfAMissingImage: an engine that does not have the configured image cannot
// run commands, and the report names the cure.
func TestReportOfAMissingImage(t *testing.T) {
	t.Parallel()
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		w.Header().Set("Content-Type", "application/json")
		path := r.URL.Path
		switch {
		case strings.HasSuffix(path, "/images/there:1/json"):
			_, _ = w.Write([]byte(`{"Id": "sha256:1"}`))
		case strings.Contains(path, "/images/"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message": "No such image"}`))
		default:
			_, _ = w.Write([]byte(`{"Version": "28.0.0", "ApiVersion": "1.44"}`))
		}
	}))
	t.Cleanup(engine.Close)
	report := func(image string) (tier, trouble, cure string) {
		i := setup(t, isolation.Config{Mode: isolation.Docker, Docker: docker.Config{
			Hosts: []string{"tcp://" + strings.TrimPrefix(engine.URL, "http://")}, Image: image,
		}})
		r := i.Report(t.Context())
		return r.Tier, r.Trouble, r.Cure
	}
	if tier, trouble, _ := report("there:1"); tier != "docker" {
		t.Errorf("an image that exists: tier %q, %s", tier, trouble)
	}
	tier, trouble, cure := report("gone:1")
	if tier != "" || !strings.Contains(trouble, "has no image gone:1") || !strings.Contains(cure, "docker pull gone:1") {
		t.Errorf("tier %q, trouble %q, cure %q", tier, trouble, cure)
	}
}
