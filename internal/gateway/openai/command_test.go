package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestCommandIsAnswered answers a command as the model would: its reply is the
// text, and nothing was spent.
func TestCommandIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHome(said("Hello."))
	routes := setup(h, &shelf{})
	w := post(routes, chat, `{"model":"chela","user":"al","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"/status"}]}`)
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
			Reason  string `json:"finish_reason"`
		}
		Usage struct {
			Total int `json:"total_tokens"`
		}
		Chela struct{ Session, Thread, Turn string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if c := answer.Choices[0]; c.Message.Content != "All is well." || c.Reason != "stop" || answer.Usage.Total != 0 || answer.Chela.Turn != "" {
		t.Errorf("answered %s", w.Body)
	}
	streamed := post(routes, chat, `{"model":"chela","user":"al","stream":true,"messages":[{"role":"user","content":"/status"}]}`).Body.String()
	if !strings.Contains(streamed, `"content":"All is well."`) || !strings.HasSuffix(streamed, "data: [DONE]\n\n") {
		t.Errorf("streamed %s", streamed)
	}
}

// TestGoOnAfterACommand goes on from the response to a command, in the thread
// that was current then.
func TestGoOnAfterACommand(t *testing.T) {
	t.Parallel()
	h := newHome(said("Hello."))
	routes := setup(h, &shelf{})
	var first struct{ ID string }
	w := post(routes, responses, `{"model":"chela","user":"al","input":"/status"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &first); err != nil {
		t.Fatal(err)
	}
	if w := post(routes, responses, `{"model":"chela","input":"hello","previous_response_id":"`+first.ID+`"}`); w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if got := h.asked[1]; got.Session != "agent:main:http:dm:al" || got.Thread != commandThread {
		t.Errorf("went on in %s, %s", got.Session, got.Thread)
	}
}

// TestInstructionsDoNotHideCommands checks what becomes of a text that a system
// message comes with.
func TestInstructionsDoNotHideCommands(t *testing.T) {
	t.Parallel()
	const kind = "Instructions from the client:\nBe kind."
	for said, want := range map[string]string{
		"hello":           kind + "\n\nhello",
		"/etc/hosts is":   kind + "\n\n/etc/hosts is",
		"/status":         "/status",
		"/stauts":         "/stauts",
		"/think high":     "/think high",
		"/think high why": "/think high why\n\n" + kind,
	} {
		h := newHome(step{say: []string{"Hello."}, stop: chela.StopEnd})
		body, err := json.Marshal(map[string]any{"model": "chela", "user": "al", "messages": []map[string]string{
			{"role": "system", "content": "Be kind."}, {"role": "user", "content": said},
		}})
		if err != nil {
			t.Fatal(err)
		}
		post(setup(h, &shelf{}), chat, string(body))
		if diff := cmp.Diff(want, h.asked[0].Text); diff != "" {
			t.Errorf("%q (-want +got)\n%s", said, diff)
		}
	}
}
