package providertest

import (
	"slices"

	"chela"
)

// calls are the clauses about what a model wants done.
func calls() []clause {
	two := []Call{{"ref_a", "clock", `{"zone":"Asia/Tokyo"}`}, {"ref_b", "file_read", `{"path":"a.txt"}`}}
	return []clause{
		{Case: Case{Name: "parallel calls", Answers: []Answer{{Text: []string{"Both."}, Calls: two}}}, scripted: true, check: checkParallel},
		{Case: Case{Name: "broken arguments", Answers: []Answer{
			{Calls: []Call{{"ref_a", "file_read", `{"path": "a.txt`}, {"ref_b", "clock", `{}`}}},
			{Text: []string{"sorry"}},
		}}, scripted: true, check: checkBroken},
		{Case: Case{Name: "empty arguments", Answers: []Answer{{Calls: []Call{{"ref_a", "clock", ""}}}}}, scripted: true, check: checkEmptyArgs},
		{Case: Case{Name: "unknown tool", Answers: []Answer{{Calls: []Call{{"ref_a", "launch", `{"at":"dawn"}`}}}}}, scripted: true, check: checkUnknownTool},
		{Case: Case{Name: "round of calls", Answers: []Answer{{Thinking: "I need both.", Text: []string{"Wait."}, Calls: two}, {Text: []string{"Done."}}}}, scripted: true, check: checkRound},
	}
}

func checkParallel(r *run) {
	f := r.finish(r.request(say("both please")))
	r.want(f.Stop, chela.StopCalls)
	if len(f.Calls) != 2 {
		r.Fatalf("got %d calls, want 2", len(f.Calls))
	}
	for i, want := range r.c.Answer(0).Calls {
		r.want(f.Calls[i].Tool, want.Tool)
		r.want(f.Calls[i].Ref, want.Ref)
		r.want(string(f.Calls[i].Args), want.Args)
	}
}

// checkBroken has the model write arguments that are not JSON, and sends them
// back with the complaint: the next request must still be readable.
func checkBroken(r *run) {
	f := r.finish(r.request(say("read it")))
	if len(f.Calls) != 2 {
		r.Fatalf("got %d calls, want 2", len(f.Calls))
	}
	r.want(f.Calls[0].Raw, `{"path": "a.txt`)
	r.want(string(f.Calls[1].Args), `{}`)
	messages := append([]chela.Message{say("read it")}, answered(f, "call_broken")...)
	r.want(r.finish(r.request(messages...)).Text, "sorry")
}

func checkEmptyArgs(r *run) { r.want(string(r.oneCall().Args), `{}`) }

func checkUnknownTool(r *run) { r.want(r.oneCall().Tool, "launch") }

func (r *run) oneCall() chela.CallSpec {
	r.Helper()
	f := r.finish(r.request(say("go")))
	if len(f.Calls) != 1 {
		r.Fatalf("got %d calls, want 1", len(f.Calls))
	}
	return f.Calls[0]
}

// checkRound goes on after a step with calls, as a turn does, and looks at
// what came back to the model.
func checkRound(r *run) {
	req := r.request(say("both please"))
	req.Thinking = chela.ThinkingLow
	f := r.finish(req)
	before := slices.Clone(req.Messages)
	req.Messages = append(before, answered(f, "call_round")...)
	r.want(r.finish(req).Text, "Done.")
	if got, ok := r.sent(); ok {
		r.want(got.Texts, []string{"both please", "Wait.", "result of clock", "result of file_read"})
	}
}

// answered returns the messages that follow a step: what the model said, with
// ids of ours that begin with prefix, and a result for each call.
func answered(f *chela.Finish, prefix string) []chela.Message {
	said := chela.Message{Role: chela.RoleAssistant, Text: f.Text, Thinking: f.Thinking, Calls: slices.Clone(f.Calls)}
	messages := []chela.Message{said}
	for i, c := range f.Calls {
		id := chela.CallID(prefix + string(rune('a'+i)))
		said.Calls[i].ID = id
		messages = append(messages, chela.Message{
			Role: chela.RoleTool, Call: id, Ref: c.Ref, Tool: c.Tool, Text: "result of " + c.Tool, Failed: c.Raw != "",
		})
	}
	return messages
}
