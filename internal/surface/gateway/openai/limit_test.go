package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestALimitBeforeTheFirstWord is an error: an empty answer would pass for one.
func TestALimitBeforeTheFirstWord(t *testing.T) {
	t.Parallel()
	want := trouble{429, "rate_limit_error", "exhausted", "", "limit", "false", ""}
	for _, limit := range []chela.Limit{chela.LimitDay, chela.LimitActions, chela.LimitTime} {
		for _, c := range []struct{ path, body string }{
			{chat, `{"model":"chela","stream":%t,"messages":[{"role":"user","content":"x"}]}`},
			{responses, `{"model":"chela","stream":%t,"input":"x"}`},
		} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprint(limit, c.path, stream), func(t *testing.T) {
					t.Parallel()
					w := post(setup(newHome(step{limit: limit}), &shelf{}), c.path, fmt.Sprintf(c.body, stream))
					if diff := cmp.Diff(want, troubleOf(t, w)); diff != "" {
						t.Errorf("error (-want +got):\n%s", diff)
					}
					if named := fmt.Sprintf(`"limit":%q`, limit); !strings.Contains(w.Body.String(), named) {
						t.Errorf("the answer lacks %s:\n%s", named, w.Body)
					}
				})
			}
		}
	}
}

// TestASpentLimitInTheMiddle ends what was said with the words of the limit.
func TestASpentLimitInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit chela.Limit
		want  string
	}{
		{chela.LimitDay, "So far.\n\nlimit"},
		{chela.LimitSteps, "So far."},
	} {
		script := []step{{say: []string{"So far."}, own: "clock"}, {limit: c.limit}}
		got := ask(t, setup(newHome(script...), &shelf{}), chat, `{"model":"chela","messages":[{"role":"user","content":"x"}]}`)
		if got.content(t) != c.want {
			t.Errorf("%s: the content is %q, want %q", c.limit, got.content(t), c.want)
		}
		w := post(setup(newHome(script...), &shelf{}), chat, `{"model":"chela","stream":true,"messages":[{"role":"user","content":"x"}]}`)
		if told := strings.Contains(w.Body.String(), `"content":"\n\nlimit"`); told != c.limit.IsOfCost() || !strings.Contains(w.Body.String(), `"finish_reason":"length"`) {
			t.Errorf("%s: the stream is\n%s", c.limit, w.Body)
		}
	}
}
