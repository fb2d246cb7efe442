package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// TestArguments sets every kind of argument by words.
func TestArguments(t *testing.T) {
	t.Parallel()
	var job api.NewJob
	set(t, api.ArgumentsOf(&job), map[string]string{
		"TEXT": "bake", "priority": "-2", "part": "a, b", "timeout": "5m", "plan": "true", "thinking": "low", "session": "agent:main:main",
	})
	want := api.NewJob{
		Text: "bake", Priority: -2, Parts: []string{"a, b"}, Session: "agent:main:main",
		Options: chela.JobOptions{Timeout: chela.Span(5 * time.Minute), Plan: true, Thinking: chela.ThinkingLow},
	}
	if diff := cmp.Diff(want, job); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var filter api.JobFilter
	set(t, api.ArgumentsOf(&filter), map[string]string{"state": "failed,pending", "before": "job_06h03m7hzzzzzzzzzzzzzzzzzz", "limit": "3"})
	if filter.Limit != 3 || len(filter.States) != 2 || filter.Before == "" {
		t.Errorf("the filter is %+v", filter)
	}
	var restart api.JobRestart
	set(t, api.ArgumentsOf(&restart), map[string]string{"ID": "job_1", "steps": "9"})
	if restart.ID != "job_1" || restart.Limits.Steps != 9 {
		t.Errorf("the restart is %+v", restart)
	}
}

// set sets arguments by name.
func set(t *testing.T, all []api.Argument, values map[string]string) {
	t.Helper()
	for _, a := range all {
		given, ok := values[a.Name]
		delete(values, a.Name)
		if !ok {
			continue
		}
		if err := a.Set(given); err != nil {
			t.Errorf("%s %q: %v", a.Name, given, err)
		}
		if a.String() == "" {
			t.Errorf("%s is not shown", a.Name)
		}
	}
	if len(values) > 0 {
		t.Errorf("there are no arguments for %v", values)
	}
}

// TestArgumentsHaveLimits refuses values that the operation would refuse.
func TestArgumentsHaveLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, given, want string }{
		{"limit", "0", "--limit is 0, not a number from 1 to 500"},
		{"limit", "many", `--limit is "many", not a number from 1 to 500`},
		{"state", "failed,done", `--state cannot be "done"`},
	} {
		var in api.JobFilter
		if err := byName(t, api.ArgumentsOf(&in), tt.name).Set(tt.given); chela.KindOf(err) != chela.Invalid || !strings.HasPrefix(chela.MessageOf(err), tt.want) {
			t.Errorf("--%s %s: %v, want %s", tt.name, tt.given, err, tt.want)
		}
	}
	var in api.NewJob
	for name, given := range map[string]string{"timeout": "soon", "priority": "101", "thinking": "hard", "title": strings.Repeat("x", 201), "part": " "} {
		if err := byName(t, api.ArgumentsOf(&in), name).Set(given); chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "--"+name) {
			t.Errorf("--%s %.20s: %v", name, given, err)
		}
	}
}

func byName(t *testing.T, all []api.Argument, name string) api.Argument {
	t.Helper()
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no %s", name)
	return api.Argument{}
}

// TestFreeText: a text that only a command has takes anything, a number does not.
func TestFreeText(t *testing.T) {
	t.Parallel()
	var in struct {
		Words []string `arg:"TEXT..."`
		Why   string   `flag:"why"`
		Most  *int64   `flag:"most"`
		How   string   `flag:"how" default:"well" check:"words=well|badly"`
	}
	all := api.ArgumentsOf(&in)
	long := strings.Repeat("a line\n", 10_000)
	for _, name := range []string{"TEXT", "why"} {
		if err := byName(t, all, name).Set(long); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if in.Why != long || len(in.Words) != 1 || in.Words[0] != long || in.How != "well" {
		t.Errorf("%d letters, %d words, how %q", len(in.Why), len(in.Words), in.How)
	}
	for _, name := range []string{"most", "how"} {
		if err := byName(t, all, name).Set("some"); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
