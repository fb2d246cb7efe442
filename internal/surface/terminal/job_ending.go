package terminal

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
)

// JobEnding returns the error that stands for a job that did not complete.
func JobEnding(ctx context.Context, c doer, j chela.Job) error {
	switch j.State {
	case chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted:
		return nil
	}
	kind, again := chela.Unavailable, "chela jobs restart "+string(j.ID)
	if j.Turn != "" {
		t, err := api.Call(ctx, c, api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: j.Turn}})
		if err != nil {
			return err
		}
		if t.State == chela.TurnLimited {
			kind = chela.Exhausted
			if t.Failure != nil {
				again += moreOf[t.Failure.Limit]
			}
		}
	}
	return chela.E(kind, fmt.Sprintf("job %s is %s: %s", j.ID, strings.ReplaceAll(string(j.State), "_", " "), cmp.Or(j.Reason, "it is "+string(j.State)))).
		WithHint("see chela jobs show " + string(j.ID) + ", or begin it again with " + again)
}

// JobChanges says how many files a job changed in its copy of a folder, and is empty
// unless they can be applied. Jobs begins the commands for that.
func JobChanges(ctx context.Context, c doer, id chela.JobID, jobs string) string {
	v, err := api.Call(ctx, c, api.JobsDiff, api.JobRef{ID: id})
	if err != nil || v.Job != id || v.State != chela.CopyMade || len(v.Files) == 0 { // the end does not depend on it
		return ""
	}
	return fmt.Sprintf("%s changed in its copy of the folder: %s diff %s shows the differences, %[2]s apply %[3]s applies them", excerpt.Count(len(v.Files), "file"), jobs, id)
}

// moreOf are the flags that give a job more of what ended its turn.
var moreOf = map[chela.Limit]string{
	chela.LimitSteps: " --steps N", chela.LimitTime: " --timeout TIME", chela.LimitTokens: " --tokens N",
}
