package queue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/queue"
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
		want    queue.Decision
	}{
		{chela.QueueCollect, "", false, queue.Decision{}},
		{chela.QueueCollect, "", true, queue.Decision{}},
		{chela.QueueCollect, "-", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "- - -", false, queue.Decision{Take: 3}},
		{chela.QueueCollect, "- - -", true, queue.Decision{}},
		{chela.QueueCollect, "- followup -", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "followup - -", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "- steer -", false, queue.Decision{Take: 3}},
		{chela.QueueCollect, "- steer -", true, queue.Decision{Steer: true}},
		{chela.QueueCollect, "- -@other -", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "- -#large", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "-#large -#large -", false, queue.Decision{Take: 2}},
		{chela.QueueCollect, "- -via:other", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "-+ - -", false, queue.Decision{Take: 1}},
		{chela.QueueCollect, "- - -+", false, queue.Decision{Take: 2}},
		{chela.QueueCollect, "steer+", true, queue.Decision{Steer: true}},
		{chela.QueueFollowup, "-", false, queue.Decision{Take: 1}},
		{chela.QueueFollowup, "- -", false, queue.Decision{Take: 1}},
		{chela.QueueFollowup, "- -", true, queue.Decision{}},
		{chela.QueueFollowup, "collect collect -", false, queue.Decision{Take: 2}},
		{chela.QueueFollowup, "- collect", false, queue.Decision{Take: 1}},
		{chela.QueueFollowup, "steer", true, queue.Decision{Steer: true}},
		{chela.QueueSteer, "- -", true, queue.Decision{Steer: true}},
		{chela.QueueSteer, "- -", false, queue.Decision{Take: 2}},
		{chela.QueueSteer, "collect followup", true, queue.Decision{}},
	} {
		situation := " on a free lane"
		if c.running {
			situation = " while a turn runs"
		}
		t.Run(string(c.mode)+": "+c.waiting+situation, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, queue.Plan(c.mode, waiting(c.waiting), c.running)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
