package background

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestQuiet finds the turns of which nothing was heard, but for those that wait.
func TestQuiet(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var b ActivityBoard
	for _, e := range []chela.Event{
		{Turn: "asks", Kind: chela.EventTurnProgress, Activity: chela.ActivityThinking, At: at(1)},
		{Turn: "streams", Kind: chela.EventTextDelta, At: at(1)},
		{Turn: "streams", Kind: chela.EventTextDelta, At: at(9)},
		{Turn: "runs", Kind: chela.EventToolStarted, Tool: "shell", Session: "agent:main:main", At: at(2)},
		{Turn: "beside", Kind: chela.EventToolStarted, Tool: "shell", At: at(1), Until: at(90)},
		{Turn: "beside", Kind: chela.EventToolStarted, Tool: "calc", At: at(3), Until: at(20)},
		{Turn: "after", Kind: chela.EventToolStarted, Tool: "shell", At: at(1), Until: at(90)},
		{Turn: "after", Kind: chela.EventTurnProgress, Activity: chela.ActivityTools, Tool: "calc", At: at(4)},
		{Turn: "after", Kind: chela.EventToolStarted, Tool: "calc", At: at(4), Until: at(20)},
		{Turn: "tells", Kind: chela.EventToolStarted, Tool: "shell", At: at(2)},
		{Turn: "tells", Kind: chela.EventToolOutput, At: at(8)},
		{Turn: "patient", Kind: chela.EventTurnProgress, Activity: chela.ActivityThinking, At: at(1), Until: at(60)},
		{Turn: "resumes", Kind: chela.EventTurnProgress, Activity: chela.ActivityThinking, At: at(1), Until: at(60)},
		{Turn: "resumes", Kind: chela.EventTextDelta, At: at(3)},
		{Turn: "acts", Kind: chela.EventTurnProgress, Activity: chela.ActivityThinking, At: at(1), Until: at(60)},
		{Turn: "acts", Kind: chela.EventToolStarted, Tool: "calc", At: at(4), Until: at(20)},
		{Turn: "waits", Kind: chela.EventTurnStarted, At: at(1)},
		{Turn: "asked", Kind: chela.EventToolStarted, At: at(1)},
		{Turn: "asked", Kind: chela.EventApprovalRequested, At: at(1)},
		{Turn: "ended", Kind: chela.EventTextDelta, At: at(1)},
		{Turn: "ended", Kind: chela.EventTurnFinished, At: at(1)},
		{Turn: "elsewhere", Kind: chela.EventToolOutput, At: at(1)},
	} {
		b.Hear(e)
	}
	want := []Progress{
		{Turn: "asks", Doing: chela.ActivityThinking, At: at(1)},
		{Turn: "patient", Doing: chela.ActivityThinking, At: at(1), Until: at(60)},
		{Turn: "runs", Session: "agent:main:main", Doing: chela.ActivityTools, Tool: "shell", At: at(2)},
		{Turn: "beside", Doing: chela.ActivityTools, Tool: "calc", At: at(3), Until: at(90)},
		{Turn: "resumes", Doing: chela.ActivityStreaming, At: at(3), Until: at(62)},
		{Turn: "acts", Doing: chela.ActivityTools, Tool: "calc", At: at(4), Until: at(20)},
		{Turn: "after", Doing: chela.ActivityTools, Tool: "calc", At: at(4), Until: at(20)},
	}
	if diff := cmp.Diff(want, b.Quiet(at(5))); diff != "" {
		t.Errorf("quiet (-want +got):\n%s", diff)
	}
	if got := b.Quiet(at(1)); len(got) != 0 {
		t.Errorf("quiet for no time: %v", got)
	}
}
