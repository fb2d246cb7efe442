package self_test

import (
	"testing"

	"chela/internal/tool/tooltest"
)

// Whoever is asked about a job sees all that the call sets.
func TestJobCallsAreShownWhole(t *testing.T) {
	t.Parallel()
	tools := newFakeJobs().tools()
	for _, name := range []string{"create_job", "job_prompt", "job_parts", "job_plan", "cancel_job"} {
		tooltest.CheckShown(t, tools[name])
	}
}
