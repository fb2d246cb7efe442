package machine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/turn/machine"
)

var limits = machine.GuardLimits{Repeats: 3, Idle: 5, Nudges: 1}

// advice plays steps and returns what should happen after each: nothing as "-",
// a note, which then enters the record, or the end. A step is written as its
// text and its calls, "tool args state result", apart by "|"; "user" is a person
// who speaks.
func advice(l machine.GuardLimits, steps ...string) string {
	var r machine.GuardRecord
	var got []string
	for _, s := range steps {
		r = step(r, s)
		a := r.Before(l)
		switch {
		case a.End:
			return strings.Join(append(got, "end"), " ")
		case a.Note != "":
			r.Noted(a.Note)
			got = append(got, string(a.Note))
		default:
			got = append(got, "-")
		}
	}
	return strings.Join(got, " ")
}

func step(r machine.GuardRecord, s string) machine.GuardRecord {
	if s == "user" {
		r.Spoken()
		return r
	}
	text, calls, _ := strings.Cut(s, "|")
	r.Answered(text)
	for call := range strings.SplitSeq(calls, "|") {
		words := strings.SplitN(call, " ", 4)
		spec := chela.CallSpec{Tool: words[0], Args: json.RawMessage(words[1])}
		if !json.Valid(spec.Args) {
			spec.Args, spec.Raw = nil, words[1]
		}
		r.Ended(spec, chela.CallState(words[2]), words[3])
	}
	r.Stepped()
	return r
}

func times(n int, steps ...string) (all []string) {
	for range n {
		all = append(all, steps...)
	}
	return all
}

func TestBefore(t *testing.T) {
	t.Parallel()
	const fails, other, reads = `|run {"a":1} failed no`, `|hunt {} failed no`, `|look {} done same`
	edit := func(n int) string { return fmt.Sprintf(`|write {"n":%d} done ok`, n) }
	for _, c := range []struct {
		name  string
		steps []string
		want  string
	}{
		{"the third failure, and the fourth", times(5, fails), "- - loop end"},
		{"what is denied failed", times(4, `|run {} denied no`), "- - loop end"},
		{"what is skipped did not", times(4, `|run {} skipped no`), "- - - -"},
		{
			"the same arguments in another order",
			[]string{`|run {"a":1,"b":2} failed no`, `|run {"b":2,"a":1} failed no`, `|run {"b":2,"a":1.0} failed no`, `|run {"a":1,"b":2} failed no`},
			"- - - loop",
		},
		{"arguments that are no JSON", times(4, `|run {"a": failed no`), "- - loop end"},
		{"other arguments", []string{`|run {"a":1} failed no`, `|run {"a":2} failed no`, `|run {"a":3} failed no`}, "- - -"},
		{"other words each time", []string{"a" + fails, "b" + fails, "c" + fails, "d" + fails}, "- - loop end"},
		{"other results each time", []string{`|run {} failed 1`, `|run {} failed 2`, `|run {} failed 3`, `|run {} failed 4`}, "- - loop end"},
		{"several at once", []string{fails + fails + fails + fails, fails}, "loop end"},
		{"in turns with another", times(4, fails, other), "- - - - loop end"},
		{
			"edits between",
			[]string{fails, edit(1), fails, edit(2), fails, edit(3), fails, edit(4), fails, edit(5), fails, edit(6)},
			"- - - - loop - - - - - loop -",
		},
		{"nothing new", times(8, reads), "- - - - - loop end"},
		{"two things in turns", times(5, "x|look {} done a", "y|look {} done b"), "- - - - - - loop end"},
		{"new words", []string{"a" + reads, "b" + reads, "c" + reads, "d" + reads, "e" + reads, "f" + reads, "g" + reads}, "- - - - - - -"},
		{"something new after the note", slices.Concat(times(6, reads), []string{edit(1)}, times(6, reads)), "- - - - - loop - - - - - loop end"},
		{"a person speaks", slices.Concat(times(3, fails), []string{"user"}, times(4, fails)), "- - loop - - - loop end"},
		{"another loop after the note", slices.Concat(times(3, fails), times(3, other)), "- - loop - - end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, advice(limits, c.steps...)); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsOfZeroLookForNothing(t *testing.T) {
	t.Parallel()
	for _, l := range []machine.GuardLimits{{}, {Idle: 50, Nudges: 1}, {Repeats: 50}} {
		if got := advice(l, times(20, `|run {} failed no`)...); strings.Trim(got, "- ") != "" {
			t.Errorf("%+v: %s", l, got)
		}
	}
}

func TestWhatIsSaid(t *testing.T) {
	t.Parallel()
	var r machine.GuardRecord
	for range 3 {
		r = step(r, `|run {"command":"make"} failed no`)
	}
	a := r.Before(limits)
	for _, want := range []string{"failed 3 times", `run {"command":"make"}`, "ends this turn"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("the note lacks %q: %s", want, a.Text)
		}
	}
	r.Noted(a.Note)
	r = step(r, `|run {"command":"make"} failed no`)
	const want = `the model repeats itself: this call failed 4 times with the same arguments: run {"command":"make"}`
	if diff := cmp.Diff(machine.GuardAdvice{End: true, Text: want}, r.Before(limits)); diff != "" {
		t.Errorf("ending (-want +got):\n%s", diff)
	}
}

// A record stays small however long its turn is, and however large what is in
// it; a loop is noticed then too.
func TestRecordStaysSmall(t *testing.T) {
	t.Parallel()
	var r machine.GuardRecord
	large := strings.Repeat("x", 100_000)
	began := time.Now()
	for n := range 10_000 {
		r = step(r, fmt.Sprintf(`step %d|run {"n":%d,"x":"%s"} failed no`, n, n, large[:n%1000]))
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 50_000 {
		t.Errorf("after 10,000 steps the record has %d bytes", len(raw))
	}
	t.Logf("%d bytes as JSON, %s a step", len(raw), time.Since(began)/10_000)
	for range 3 {
		r = step(r, `|run {} failed no`)
	}
	if a := r.Before(limits); a.Note != chela.NoteLoop {
		t.Errorf("no loop is noticed: %+v", a)
	}
}

// Whatever happens in a turn: it ends only after a note, and what is noted is
// noted once.
func TestNoEndWithoutNote(t *testing.T) {
	t.Parallel()
	words := []string{`|run {} failed x`, `|run {} done x`, `a|look {} done x`, `b|look {} done y|run {} failed x`, `|run {} denied x`}
	rapid.Check(t, func(t *rapid.T) {
		var r machine.GuardRecord
		warned := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := rapid.SampledFrom(words).Draw(t, "step")
			if rapid.IntRange(1, 10).Draw(t, "kind") == 1 {
				s, warned = "user", false
			}
			r = step(r, s)
			switch a := r.Before(limits); {
			case a.End && !warned:
				t.Fatalf("the turn ends without a note: %+v", r)
			case a.End:
				return
			case a.Note != "":
				warned = true
				r.Noted(a.Note)
				if again := r.Before(limits); again != (machine.GuardAdvice{}) {
					t.Fatalf("after the note: %+v", again)
				}
			}
		}
	})
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	r := step(machine.GuardRecord{}, `a|run {} failed no`)
	c := r.Clone()
	before := c.Clone()
	step(r, `b|run {} failed no`)
	if diff := cmp.Diff(before, c); diff != "" {
		t.Errorf("the copy changed (-before +after):\n%s", diff)
	}
}
