package job_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
)

// A job runs in a session of its own, and whoever asked for it is told once how it
// ended.
func TestJobIsDoneAndAnnounced(t *testing.T) {
	t.Parallel()
	const scenario = `
turns:
  - {when: "has ended: Count", steps: [{text: "There are 12 beans."}]}
  - {when: Count, steps: [{text: "12 beans"}]}
`
	onBoth(t, func(t *testing.T, cfg store.Config) {
		h := open(t, cfg, scenario, nil)
		o := order("Count the beans.")
		o.Key = "the first"
		j := h.create(o)
		if again := h.create(o); again.ID != j.ID {
			t.Errorf("one request made two jobs: %s and %s", j.ID, again.ID)
		}
		v := h.until(j.ID, chela.JobSubmitted)
		h.rest()
		if v.Result != "12 beans" || v.Attempt != 1 || v.AnnouncedAt.IsZero() || v.Usage.Total() == 0 {
			t.Errorf("job: %+v", v)
		}
		want := []chela.JobState{chela.JobPending, chela.JobInProgress, chela.JobCompleted, chela.JobSubmitted}
		if diff := cmp.Diff(want, h.moves(j.ID)); diff != "" {
			t.Errorf("moves (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"user: Count the beans.", "assistant: 12 beans"}, h.said(j.Session)); diff != "" {
			t.Errorf("in its session (-want +got)\n%s", diff)
		}
		said := h.said(mainSession)
		if len(said) != 2 || said[1] != "assistant: There are 12 beans." {
			t.Fatalf("in the main session: %q", said)
		}
		for _, part := range []string{"Count the beans.", "Ended: ok", "12 beans", string(j.Session), "NO_REPLY", "tokens in"} {
			if !strings.Contains(said[0], part) {
				t.Errorf("the announcement lacks %q:\n%s", part, said[0])
			}
		}
	})
}
