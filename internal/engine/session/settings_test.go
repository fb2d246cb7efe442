package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/session"
)

func to[T any](v T) *T { return &v }

func TestPatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pairs []string
		want  api.SettingsPatch
	}{
		{"nothing", nil, api.SettingsPatch{}},
		{"a label with an equals sign", []string{"label=a=b"}, api.SettingsPatch{Label: to("a=b")}},
		{"back to nothing", []string{"model="}, api.SettingsPatch{Model: to("")}},
		{"a flag", []string{"archived=true"}, api.SettingsPatch{Archived: to(true)}},
		{"the last one holds", []string{"verbose=on", "verbose=full"}, api.SettingsPatch{Verbose: to("full")}},
		{
			"all words",
			[]string{"thinking=low", "reasoning=stream", "response_usage=tokens", "elevated=ask", "queue_mode=followup", "thread=thr_1"},
			api.SettingsPatch{
				Thinking: to(chela.ThinkingLow), Reasoning: to("stream"), ResponseUsage: to("tokens"), Elevated: to("ask"),
				QueueMode: to(chela.QueueFollowup), Thread: to(chela.ThreadID("thr_1")),
			},
		},
		{
			"how messages wait",
			[]string{"queue_mode=steer-backlog", "queue_debounce_ms=-1", "queue_cap=", "queue_drop=old"},
			api.SettingsPatch{
				QueueMode: to(chela.QueueSteerBacklog), QueueDebounceMS: to(-1), QueueCap: to(0), QueueDrop: to(chela.DropOld),
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := session.Patch(c.pairs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pair, says string
		kind       chela.Kind
	}{
		{"label", "write name=value", chela.Invalid},
		{"lable=x", "did you mean label?", chela.Invalid},
		{"Queue_mode=collect", "did you mean queue_mode?", chela.Invalid},
		{"zzz=x", "use one of label, model", chela.Invalid},
		{"=x", "use one of label, model", chela.Invalid},
		{"compactions=7", "read-only", chela.Invalid},
		{"last=x", "read-only", chela.Invalid},
		{"exec_ask=off", "not supported", chela.Unsupported},
		{"queue_cap=many", "write how many may wait", chela.Invalid},
		{"archived=perhaps", "write true or false", chela.Invalid},
	} {
		t.Run(c.pair, func(t *testing.T) {
			t.Parallel()
			_, err := session.Patch([]string{"model=a/b", c.pair})
			if chela.KindOf(err) != c.kind || !strings.Contains(chela.MessageOf(err), c.says) {
				t.Errorf("error %v, want %s that says %q", err, c.kind, c.says)
			}
		})
	}
}
