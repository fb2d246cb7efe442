package wire_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/surface/gateway/openai/wire"
)

// FuzzChat and FuzzResponses read bodies as they may come from anybody: each is
// a request whose parts can be used, or an Invalid error.
func FuzzChat(f *testing.F) {
	f.Add(`{"model":"chela","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}`)
	f.Add(`{"model":"chela","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}`)
	f.Add(`{"model":"m","stream":true,"n":1,"stop":[],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"none","max_tokens":1,"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,aGk="}}]}]}`)
	f.Fuzz(func(t *testing.T, body string) { check(t, wire.Chat, body) })
}

func FuzzResponses(f *testing.F) {
	f.Add(`{"model":"chela","input":"x","instructions":"y","previous_response_id":"resp_1","metadata":{"a":"b"}}`)
	f.Add(`{"model":"chela","input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}`)
	f.Add(`{"model":"m","stream":true,"input":[{"role":"user","content":[{"type":"input_file","filename":"a","file_data":"data:a/b;base64,aGk="}]}],"tools":[{"type":"function","name":"f"}],"reasoning":{"effort":"low"}}`)
	f.Fuzz(func(t *testing.T, body string) { check(t, wire.Responses, body) })
}

// FuzzEmbedding reads bodies of requests for embeddings in the same way.
func FuzzEmbedding(f *testing.F) {
	f.Add(`{"model":"a/b","input":"x","encoding_format":"base64","dimensions":3,"user":"ann"}`)
	f.Add(`{"model":"a/b","input":["x","y"]}`)
	f.Add(`{"model":"a/b","input":[[1,2],[3]],"more":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		q, err := wire.Embedding(httptest.NewRequest("POST", "/", strings.NewReader(body)))
		if err != nil {
			if chela.KindOf(err) != chela.Invalid {
				t.Errorf("%q is an error of kind %s: %v", body, chela.KindOf(err), err)
			}
			return
		}
		if q.Model == "" || q.Request.Len() == 0 || (q.Request.Texts == nil) == (q.Request.Tokens == nil) || q.Request.Dimensions < 0 {
			t.Errorf("%q is %+v", body, q)
		}
	})
}

func check(t *testing.T, form reader, body string) {
	t.Helper()
	q, err := form(httptest.NewRequest("POST", "/", strings.NewReader(body)), time.Unix(0, 0))
	if err != nil {
		if chela.KindOf(err) != chela.Invalid {
			t.Errorf("%q is an error of kind %s: %v", body, chela.KindOf(err), err)
		}
		return
	}
	if at := q.Fresh(); q.Model == "" || at < 0 || at > len(q.Said) || at > 0 && q.Said[at-1].Role != chela.RoleAssistant {
		t.Errorf("%q begins anew at %d of %+v", body, at, q)
	}
	for _, s := range q.Said {
		if s.Role == "" || !utf8.ValidString(s.Text) {
			t.Errorf("%q says %+v", body, s)
		}
		for _, c := range s.Calls {
			if c.Ref == "" || c.Tool == "" || (c.Args == nil) == (c.Raw == "") || c.Args != nil && !json.Valid(c.Args) {
				t.Errorf("%q calls %+v", body, c)
			}
		}
	}
	w := httptest.NewRecorder()
	q.Answer(w, wire.Reply{ID: "1", Finish: chela.Finish{Text: "x"}})
	if !json.Valid(w.Body.Bytes()) {
		t.Errorf("%q is answered with %s", body, w.Body)
	}
}
