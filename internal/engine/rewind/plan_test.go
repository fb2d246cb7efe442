package rewind_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/engine/rewind"
)

// did is a call that wrote files, each as path, before, after.
func did(state chela.CallState, changes ...[3]string) chela.ToolCall {
	c := chela.ToolCall{Tool: "write_file", Effect: chela.EffectWrite, State: state, StartedAt: time.Unix(1, 0)}
	for _, ch := range changes {
		c.Changes = append(c.Changes, chela.Preimage{Kind: chela.PreimageFile, Path: ch[0], Before: ch[1], After: ch[2]})
	}
	return c
}

func done(changes ...[3]string) rewind.Part { return rewind.Part{did(chela.CallDone, changes...)} }

func TestPlan(t *testing.T) {
	t.Parallel()
	or := func(s string) *string { return &s }
	step := func(path, before, after string) rewind.Step {
		return rewind.Step{Preimage: chela.Preimage{Kind: chela.PreimageFile, Path: path, Before: before, After: after}}
	}
	unsure := step("a", "2", "1")
	unsure.Or = or("1")
	redoneUnsure := step("a", "1", "2")
	deleted := done([3]string{"a", "1", ""})
	deleted[0].Changes[0].Mode = 0o755
	withMode := step("a", "", "1")
	withMode.Mode = 0o755
	made := done([3]string{"x/a", "", "1"})
	made[0].Changes[0].Made = "x"
	withFolder := step("x/a", "1", "")
	withFolder.Made = "x"
	folderOnly := step("x/a", "", "")
	folderOnly.Made = "x"
	parts := func(p ...rewind.Part) []rewind.Part { return p }
	for _, c := range []struct {
		name  string
		way   rewind.Path
		steps []rewind.Step
		gaps  []chela.Preimage
	}{
		{"nothing", rewind.Path{}, nil, nil},
		{"one back", rewind.Path{Undone: parts(done([3]string{"a", "1", "2"}))}, []rewind.Step{step("a", "2", "1")}, nil},
		{"one forth", rewind.Path{Redone: parts(done([3]string{"a", "1", "2"}))}, []rewind.Step{step("a", "1", "2")}, nil},
		{
			"several turns back",
			rewind.Path{Undone: parts(done([3]string{"a", "2", "3"}), done([3]string{"a", "1", "2"}, [3]string{"b", "", "1"}))},
			[]rewind.Step{step("a", "3", "1"), step("b", "1", "")},
			nil,
		},
		{
			"several calls of a turn, with something in between",
			rewind.Path{Undone: parts(rewind.Part{did(chela.CallDone, [3]string{"a", "1", "2"}), did(chela.CallDone, [3]string{"a", "formatted", "3"})})},
			[]rewind.Step{step("a", "3", "1")},
			nil,
		},
		{
			"somebody in between two turns",
			rewind.Path{Undone: parts(done([3]string{"a", "mine", "3"}), done([3]string{"a", "1", "2"}))},
			[]rewind.Step{step("a", "3", "1")},
			[]chela.Preimage{{Kind: chela.PreimageFile, Path: "a", Before: "2", After: "mine"}},
		},
		{
			"to another branch",
			rewind.Path{Undone: parts(done([3]string{"a", "1", "2"})), Redone: parts(done([3]string{"a", "1", "3"}, [3]string{"b", "", "1"}))},
			[]rewind.Step{step("a", "2", "3"), step("b", "", "1")},
			nil,
		},
		{
			"to another branch that did the same",
			rewind.Path{Undone: parts(done([3]string{"a", "1", "2"})), Redone: parts(done([3]string{"a", "1", "2"}))},
			[]rewind.Step{},
			nil,
		},
		{"a call of which nobody knows", rewind.Path{Undone: parts(rewind.Part{did(chela.CallUnknown, [3]string{"a", "1", "2"})})}, []rewind.Step{unsure}, nil},
		{"and forth", rewind.Path{Redone: parts(rewind.Part{did(chela.CallUnknown, [3]string{"a", "1", "2"})})}, []rewind.Step{redoneUnsure}, nil},
		{"a failed one forth", rewind.Path{Redone: parts(rewind.Part{did(chela.CallFailed, [3]string{"a", "1", "2"})})}, nil, nil},
		{
			"a failed one before another",
			rewind.Path{Undone: parts(done([3]string{"a", "1", "3"}), rewind.Part{did(chela.CallFailed, [3]string{"a", "1", "2"})})},
			[]rewind.Step{step("a", "3", "1")},
			nil,
		},
		{"a mode", rewind.Path{Undone: parts(deleted)}, []rewind.Step{withMode}, nil},
		{"a folder", rewind.Path{Undone: parts(made)}, []rewind.Step{withFolder}, nil},
		{"a folder of a file that went", rewind.Path{Undone: parts(done([3]string{"x/a", "1", ""}), made)}, []rewind.Step{folderOnly}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps, gaps := rewind.Plan(c.way)
			want(t, "steps", c.steps, steps)
			want(t, "gaps", c.gaps, gaps)
		})
	}
}

// TestPlanOfLaterMode: the mode of a file comes from the call that removed it, also if
// an earlier one of the turn changed it.
func TestPlanOfLaterMode(t *testing.T) {
	t.Parallel()
	changed, removed := did(chela.CallDone, [3]string{"a", "1", "2"}), did(chela.CallDone, [3]string{"a", "2", ""})
	removed.Changes[0].Mode = 0o755
	steps, gaps := rewind.Plan(rewind.Path{Undone: []rewind.Part{{changed, removed}}})
	want(t, "steps", []rewind.Step{{Preimage: chela.Preimage{Kind: chela.PreimageFile, Path: "a", Before: "", After: "1", Mode: 0o755}}}, steps)
	want(t, "gaps", nil, gaps)
}

// args describes a call by its arguments.
func args(c chela.ToolCall) string { return string(c.Args) }

func TestLeft(t *testing.T) {
	t.Parallel()
	call := func(tool string, effect chela.Effect, change func(c *chela.ToolCall)) chela.ToolCall {
		c := did(chela.CallDone)
		c.Tool, c.Effect = tool, effect
		change(&c)
		return c
	}
	plain := func(*chela.ToolCall) {}
	way := rewind.Path{Undone: []rewind.Part{{
		call("reads", chela.EffectRead, plain),
		call("runs", chela.EffectExecute, plain),
		call("denied", chela.EffectExecute, func(c *chela.ToolCall) { c.State, c.StartedAt = chela.CallDenied, time.Time{} }),
		call("kept", chela.EffectWrite, func(c *chela.ToolCall) { c.Changes = []chela.Preimage{{Path: "a"}} }),
		call("not kept", chela.EffectWrite, plain),
		call("sends", chela.EffectSend, func(c *chela.ToolCall) { c.State = chela.CallUnknown }),
	}, {call("asks", chela.EffectNetwork, plain)}}}
	for keepFiles, tools := range map[bool][]string{
		false: {"sends", "not kept", "runs", "asks"}, true: {"sends", "not kept", "kept", "runs", "asks"},
	} {
		var got []string
		for _, n := range rewind.Left(way, keepFiles, args) {
			got = append(got, n.Tool)
		}
		want(t, "left", tools, got)
	}
	way.Redone, way.Undone = way.Undone, nil
	if left := rewind.Left(way, false, args); left != nil {
		t.Errorf("what is redone is left: %+v", left)
	}
}

// TestPlanOfModes: a file that is put back has the mode that it had before the oldest
// turn that is undone.
func TestPlanOfModes(t *testing.T) {
	t.Parallel()
	newer, older := did(chela.CallDone, [3]string{"a", "2", "3"}), did(chela.CallDone, [3]string{"a", "1", "2"})
	newer.Changes[0].Mode, older.Changes[0].Mode = 0o600, 0o755
	steps, _ := rewind.Plan(rewind.Path{Undone: []rewind.Part{{newer}, {older}}})
	want(t, "steps", []rewind.Step{{Preimage: chela.Preimage{Kind: chela.PreimageFile, Path: "a", Before: "3", After: "1", Mode: 0o755}}}, steps)
}

// TestPlanOfNothing: a file that is as it was needs no step, whether it is there or not,
// unless a folder was made for it that is left.
func TestPlanOfNothing(t *testing.T) {
	t.Parallel()
	gone := rewind.Path{Undone: []rewind.Part{done([3]string{"a", "1", ""}), done([3]string{"a", "", "1"})}}
	steps, _ := rewind.Plan(gone)
	want(t, "steps for a file that is gone", 0, len(steps))
	there := did(chela.CallDone, [3]string{"x/a", "1", "1"})
	there.Changes[0].Made = "x"
	steps, _ = rewind.Plan(rewind.Path{Undone: []rewind.Part{{there}}})
	want(t, "steps for a file that is there", 0, len(steps))
}
