package openai_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTokensShareNoSession sends the same word under two tokens, and words that are
// made to look like the names of other tokens' sessions.
func TestTokensShareNoSession(t *testing.T) {
	t.Parallel()
	h := newHome()
	routes := setup(h, &shelf{})
	seen := map[string]string{}
	for _, token := range []string{"tok_1", "tok_2", "tok_12"} {
		for _, word := range []string{"desk", "tok_1.desk", "tok_2.desk", "2.desk", ".desk", "tok_1%2Edesk", "desk%2E", "key-1", "agent:main:http:dm:tok_1 .desk"} {
			h.script = append(h.script, said("ok"))
			a := ask(t, routes, chat, `{"model":"chela","user":"ann","messages":[{"role":"user","content":"x"}]}`, "X-Token: "+token, "X-Chela-Session: "+word)
			who := token + " " + word
			if before, ok := seen[a.Chela.Session]; ok {
				t.Errorf("%q and %q share the session %s", before, who, a.Chela.Session)
			}
			seen[a.Chela.Session] = who
		}
	}
}

// TestATokenGoesOnInItsOwnSessionsOnly names what another token began, by each way
// to go on from something.
func TestATokenGoesOnInItsOwnSessionsOnly(t *testing.T) {
	t.Parallel()
	h := newHome(weather, step{say: []string{"I will delete."}, ask: "shell"}, said("A new conversation."), said("Mild."))
	routes := setup(h, &shelf{})
	first := ask(t, routes, responses, `{"model":"chela","input":"weather?"}`)
	asked := ask(t, routes, chat, `{"model":"chela","messages":[{"role":"user","content":"clean up"}]}`)
	results := func() string {
		var items []string
		for _, o := range first.Output {
			if o.Type == "function_call" {
				items = append(items, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"fine"}`, o.CallID))
			}
		}
		return `{"model":"chela","input":[` + strings.Join(items, ",") + `]}`
	}()
	if got := troubleOf(t, post(routes, responses, fmt.Sprintf(`{"model":"chela","input":"x","previous_response_id":%q}`, first.ID), "X-Token: tok_2")); got.Status != 404 || got.Code != "previous_response_not_found" {
		t.Errorf("a response of another token: %+v", got)
	}
	if got := troubleOf(t, post(routes, responses, results, "X-Token: tok_2")); got.Status != 400 || !strings.Contains(got.Message, "there is no call") {
		t.Errorf("a call of another token: %+v", got)
	}
	answer := fmt.Sprintf(`{"model":"chela","messages":[%s,{"role":"user","content":"yes"}]}`, asked.Choices[0].Message)
	if got := ask(t, routes, chat, answer, "X-Token: tok_2"); got.Chela.Session == asked.Chela.Session || got.content(t) != "A new conversation." {
		t.Errorf("an answer of another token went to %s", got.Chela.Session)
	}
	if got := ask(t, routes, responses, results, "X-Token: tok_2", "X-Scope: admin"); got.Chela.Session != first.Chela.Session {
		t.Errorf("results of an admin went to %s", got.Chela.Session)
	}
}

// TestASessionAndWhatItGoesOnFromAgree names a session beside a response of another.
func TestASessionAndWhatItGoesOnFromAgree(t *testing.T) {
	t.Parallel()
	h := newHome(said("One."), said("Two."))
	routes := setup(h, &shelf{})
	first := ask(t, routes, responses, `{"model":"chela","input":"one"}`, "X-Chela-Session: desk")
	body := fmt.Sprintf(`{"model":"chela","input":"two","previous_response_id":%q}`, first.ID)
	if got := troubleOf(t, post(routes, responses, body, "X-Chela-Session: bed")); got.Status != 400 || got.Param != "X-Chela-Session" {
		t.Errorf("another session: %+v", got)
	}
	if got := ask(t, routes, responses, body, "X-Chela-Session: desk"); got.Chela.Thread != first.Chela.Thread {
		t.Errorf("the same session: %+v", got)
	}
}
