package fake

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadQuestion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       question
	}{
		{"plain", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, question{user: []byte(`"hi"`)}},
		{"stream", `{"messages":[],"stream":true}`, question{stream: true}},
		{"usage", `{"stream_options":{"include_usage": true},"messages":[],"stream":true}`, question{stream: true, usage: true}},
		{
			"spaced, parts", "{ \"messages\" : [ { \"content\" : [ {\"type\":\"text\",\"text\":\"a\"} ] , \"role\" : \"user\" } ] }\n",
			question{user: []byte(`[ {"type":"text","text":"a"} ]`)},
		},
		{
			"a result last", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]},` +
				`{"role":"tool","content":"r"}],"tools":[{"role":"user"}]}`, question{answered: true, user: []byte(`"a"`)},
		},
		{
			"a result before", `{"messages":[{"role":"user","content":"a"},{"role":"tool","content":"r"},{"role":"user","content":"b"}]}`,
			question{user: []byte(`"b"`)},
		},
		{
			"the answer is last", `{"messages":[{"role":"tool","content":"r"},{"role":"assistant","content":"a"}]}`, question{},
		},
		{
			"quotes and braces in text", `{"messages":[{"role":"user","content":"\"}]\\"},{"role":"user","content":"{\"role\":\"tool\"}"}]}`,
			question{user: []byte(`"{\"role\":\"tool\"}"`)},
		},
		{"numbers and words", `{"n":1,"t":-0.5e3 ,"x":null,"y":[1,2.5,[]],"messages":[]}`, question{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readQuestion([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(question{})); diff != "" {
				t.Errorf("question (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadQuestionBroken(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "{", "[]", "{}", `{"messages":`, `{"messages":[`, `{"messages":[{]`, `{"messages":{}}`, `{"messages":[1,]}`,
		`{"messages":[],}`, `{"messages" []}`, `{messages:[]}`, `{"messages":["a`, `{"messages":["a\"]}`, `{"a":1 2,"messages":[]}`,
	} {
		if q, err := readQuestion([]byte(body)); err == nil {
			t.Errorf("%s: read as %+v", body, q)
		}
	}
}

// FuzzReadQuestion compares with encoding/json what is a request, and shows
// that nothing else leads further than to an error.
func FuzzReadQuestion(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"hi"}],"stream":true}`), "hi", "tool")
	f.Add([]byte(`{"messages":[{]`), "a \" \\ } ] \u2028", "assistant")
	f.Fuzz(func(t *testing.T, raw []byte, text, role string) {
		if q, err := readQuestion(raw); err != nil && q.user != nil {
			t.Errorf("%s: error %v, and a question", raw, err)
		}
		if strings.ContainsRune(role, '"') || role == "user" {
			return
		}
		type message struct {
			Content string `json:"content"`
			Role    string `json:"role"`
		}
		body, err := json.MarshalIndent(map[string]any{
			"messages": []message{{text + "x", "user"}, {text, "user"}, {text, role}}, "stream": true, "tools": []string{text},
		}, "", "\t")
		if err != nil {
			return
		}
		content, _ := json.Marshal(text)
		want := question{stream: true, answered: role == "tool", user: content}
		got, err := readQuestion(body)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(question{})); err != nil || diff != "" {
			t.Errorf("%s: error %v, question (-want +got):\n%s", body, err, diff)
		}
	})
}

// BenchmarkReadQuestion reads a request as it comes in the middle of a session.
func BenchmarkReadQuestion(b *testing.B) {
	exchange := `{"role":"user","content":"say load-1"},{"role":"assistant","content":"load-1` + words + `"},`
	tool := `{"type":"function","function":{"name":"echo","description":"` + strings.Repeat("words ", 60) + `","parameters":{"type":"object"}}},`
	body := []byte(`{"model":"load","stream":true,"messages":[` + strings.Repeat(exchange, 25) + `{"role":"user","content":"x"}],"tools":[` +
		strings.Repeat(tool, 15) + `{}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readQuestion(body); err != nil {
			b.Fatal(err)
		}
	}
}
