package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/engine/turn"
)

// flushRig is a rig whose model can write notes.
func flushRig(t *testing.T, percent int, steps ...step) *rig {
	r := pastRig(t, percent, steps...)
	r.tools = append(r.tools, r.tool("memory_write", chela.Judgement{Effect: chela.EffectWrite}))
	for i := range r.tools {
		r.tools[i].Own = true
	}
	r.cfg.Limits.Steps = 20
	r.cfg.Flush = true
	return r
}

// told is the transcript of the open turn, with what people do not see in
// brackets.
func (r *rig) told() (lines []string) {
	for _, e := range r.book.entries {
		if e.Turn != r.book.turn.ID {
			continue
		}
		line := string(e.Kind())
		if e.Mark().Note != "" {
			line += " " + string(e.Mark().Note)
		}
		if e.Kind() == chela.EntryAssistant || e.Kind() == chela.EntryToolResult {
			line += ": " + e.Text()
		}
		if e.Mark().Hidden {
			line = "[" + line + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFlush(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		percent int
		steps   []step
		want    []string
		last    string // the last request
	}{
		{"far from it", 70, []step{say("ok")}, []string{"user", "assistant: ok"}, "41: said 0 … hi"},
		{
			"near a compaction", 77,
			[]step{say("", "memory_write a"), say("NO_REPLY"), say("ok")},
			[]string{
				"user", "[note flush]", "[assistant flush: ]", "[tool_result flush: memory_write did a]", "[assistant flush: NO_REPLY]",
				"[note resume]", "assistant: ok",
			},
			"46: said 0 … [note from the host]",
		},
		{
			"at a compaction", 82,
			[]step{say("NO_REPLY"), say("ok")},
			[]string{"user", "[note flush]", "[assistant flush: NO_REPLY]", "compaction", "assistant: ok"},
			"18: [note from the host] … hi",
		},
		{
			"without an end", 77,
			[]step{say("", "memory_write a"), say("", "memory_write b"), say("", "memory_write c"), say("ok")},
			[]string{
				"user", "[note flush]", "[assistant flush: ]", "[tool_result flush: memory_write did a]", "[assistant flush: ]",
				"[tool_result flush: memory_write did b]", "[assistant flush: ]", "[tool_result flush: memory_write did c]", "[note resume]", "assistant: ok",
			},
			"49: said 0 … [note from the host]",
		},
		{
			"another tool", 77,
			[]step{say("", "write x"), say("NO_REPLY"), say("", "write y"), say("ok")},
			[]string{
				"user", "[note flush]", "[assistant flush: ]",
				"[tool_result flush: not run: only memory tools are available now; make this call after your answer]",
				"[assistant flush: NO_REPLY]", "[note resume]", "assistant: ", "tool_result: write did y", "assistant: ok",
			},
			"48: said 0 … write did y",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := flushRig(t, c.percent, c.steps...)
			r.book.turn.Origin.ReplyBy = chela.ReplyByOutbox
			s := r.mustRun(chela.TurnCompleted)
			if diff := cmp.Diff(c.want, r.told()); diff != "" {
				t.Errorf("turn (-want +got):\n%s", diff)
			}
			asked := r.asked()
			if diff := cmp.Diff(c.last, asked[len(asked)-1]); diff != "" {
				t.Errorf("last request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"ok"}, owed(r)); diff != "" {
				t.Errorf("replies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r.book.state(), s, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("state (-read +ran):\n%s", diff)
			}
			for _, e := range r.events {
				if e.Text == "NO_REPLY" || e.Tool == "memory_write" {
					t.Errorf("people see %+v", e)
				}
			}
		})
	}
}

// Nobody is asked for notes who cannot keep them, twice, or at the end of a
// turn's steps.
func TestNoFlush(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *rig){
		"without the tool": func(r *rig) { r.tools = r.tools[:2] },
		"switched off":     func(r *rig) { r.cfg.Flush = false },
		"few steps":        func(r *rig) { r.cfg.Limits.Steps = 7 },
		"asked before": func(r *rig) {
			r.book.entries[30].Body = chela.NoteBody{Text: r.book.entries[30].Text(), Mark: chela.Mark{Note: chela.NoteFlush}}
		},
		"a command": func(r *rig) {
			b := r.book.entries[40].User()
			b.Command = chela.CommandCompact
			r.book.entries[40].Body = b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := flushRig(t, 77, say("ok"))
			change(r)
			r.mustRun(chela.TurnCompleted)
			if slices.ContainsFunc(r.told(), func(line string) bool { return strings.Contains(line, "flush") }) {
				t.Errorf("turn:\n%s", strings.Join(r.told(), "\n"))
			}
		})
	}
}

// Nobody is asked for leave while notes are written: the call is denied.
func TestFlushAsksNobody(t *testing.T) {
	t.Parallel()
	r := flushRig(t, 77, say("", "memory_write a"), say("NO_REPLY"), say("ok"))
	r.verdict = func(chela.ToolCall) turn.Ruling { return turn.Ruling{Verdict: chela.Ask, Reason: "it is asked"} }
	r.mustRun(chela.TurnCompleted)
	if got := r.told()[3]; got != "[tool_result flush: denied: approvals are not available now: it is asked]" {
		t.Error(got)
	}
}

// Somebody speaks while notes are written: that is what the turn goes on with.
func TestSteerIntoFlush(t *testing.T) {
	t.Parallel()
	var r *rig
	r = flushRig(t, 77, func(ctx context.Context, yield func(chela.Chunk, error) bool) {
		r.book.inbox = append(r.book.inbox, chela.InboxMessage{ID: "in_2", State: chela.InboxWaiting, Inbound: chela.Inbound{Text: "more"}})
		r.control.Steer()
		say("", "memory_write a")(ctx, yield)
	}, say("ok"))
	r.mustRun(chela.TurnCompleted)
	want := []string{
		"user", "[note flush]", "[assistant flush: ]", "[tool_result flush: skipped: superseded by a new message]", "user", "assistant: ok",
	}
	if diff := cmp.Diff(want, r.told()); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
}

// A process that dies anywhere in a turn with a flush and a compaction leaves a
// turn that the next one ends in the same way.
func TestRunsThatDieCompacting(t *testing.T) {
	t.Parallel()
	steps := []step{say("", "memory_write a"), say("NO_REPLY"), say("What it came to."), say("ok")}
	for dies := 1; dies < 8; dies++ {
		t.Run(fmt.Sprint(dies), func(t *testing.T) {
			t.Parallel()
			r := flushRig(t, 90, steps...)
			r.book.fail = func(n int, _ string) error {
				if n == dies {
					return chela.E(chela.Unavailable, "the process died")
				}
				return nil
			}
			for range 2 {
				s, err := r.run()
				if err == nil && s.Turn.State.Ended() {
					break
				}
				r.model.requests = r.model.requests[:0]
				r.model.steps = steps[r.answers():]
			}
			if r.book.turn.State != chela.TurnCompleted || len(r.compactions()) != 1 {
				t.Fatalf("%s with %d compactions:\n%s", r.book.turn.State, len(r.compactions()), strings.Join(r.told(), "\n"))
			}
			if told := r.told(); told[len(told)-1] != "assistant: ok" {
				t.Errorf("turn:\n%s", strings.Join(told, "\n"))
			}
		})
	}
}

// answers returns how many requests the book has the answers of.
func (r *rig) answers() int {
	n := len(r.compactions())
	for _, e := range r.book.entries {
		if e.Kind() == chela.EntryAssistant && e.Turn == r.book.turn.ID {
			n++
		}
	}
	return n
}
