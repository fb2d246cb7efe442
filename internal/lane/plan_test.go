package lane_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/lane"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	// A message is written as its mode, and what sets it apart from others:
	// "@thread", "#model", "via:channel", or "+" for tools that it offers.
	waiting := func(text string) (all []chela.Waiting) {
		for word := range strings.FieldsSeq(text) {
			m := chela.Waiting{State: chela.InboxWaiting}
			m.Thread, m.Origin.Channel = "main", "test"
			if mode, thread, ok := strings.Cut(word, "@"); ok {
				word, m.Thread = mode, chela.ThreadID(thread)
			}
			if mode, model, ok := strings.Cut(word, "#"); ok {
				word, m.Model = mode, model
			}
			if mode, channel, ok := strings.Cut(word, "via:"); ok {
				word, m.Origin.Channel = mode, channel
			}
			if mode, ok := strings.CutSuffix(word, "+"); ok {
				word, m.Offers = mode, []chela.ToolSpec{{Name: "theirs"}}
			}
			if word != "-" {
				m.Queue.Mode = chela.QueueMode(word)
			}
			all = append(all, m)
		}
		return all
	}
	for _, c := range []struct {
		mode    chela.QueueMode
		waiting string
		running bool
		want    lane.Decision
	}{
		{chela.QueueCollect, "", false, lane.Decision{}},
		{chela.QueueCollect, "", true, lane.Decision{}},
		{chela.QueueCollect, "-", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "- - -", false, lane.Decision{Take: 3}},
		{chela.QueueCollect, "- - -", true, lane.Decision{}},
		{chela.QueueCollect, "- followup -", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "followup - -", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "- steer -", false, lane.Decision{Take: 3}},
		{chela.QueueCollect, "- steer -", true, lane.Decision{Steer: true}},
		{chela.QueueCollect, "- -@other -", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "- -#large", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "-#large -#large -", false, lane.Decision{Take: 2}},
		{chela.QueueCollect, "- -via:other", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "-+ - -", false, lane.Decision{Take: 1}},
		{chela.QueueCollect, "- - -+", false, lane.Decision{Take: 2}},
		{chela.QueueCollect, "steer+", true, lane.Decision{Steer: true}},
		{chela.QueueFollowup, "-", false, lane.Decision{Take: 1}},
		{chela.QueueFollowup, "- -", false, lane.Decision{Take: 1}},
		{chela.QueueFollowup, "- -", true, lane.Decision{}},
		{chela.QueueFollowup, "collect collect -", false, lane.Decision{Take: 2}},
		{chela.QueueFollowup, "- collect", false, lane.Decision{Take: 1}},
		{chela.QueueFollowup, "steer", true, lane.Decision{Steer: true}},
		{chela.QueueSteer, "- -", true, lane.Decision{Steer: true}},
		{chela.QueueSteer, "- -", false, lane.Decision{Take: 2}},
		{chela.QueueSteer, "collect followup", true, lane.Decision{}},
	} {
		situation := " on a free lane"
		if c.running {
			situation = " while a turn runs"
		}
		t.Run(string(c.mode)+": "+c.waiting+situation, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lane.Plan(c.mode, waiting(c.waiting), c.running)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
