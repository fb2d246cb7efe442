package providertest

import (
	"net/http"
	"strings"
	"testing"
)

// A change makes a good request one that a server must
// refuse.
type change struct {
	name     string
	old, new string // replaced in the body; an empty old changes nothing
	want     string // in the refusal; empty for none
}

func checkChanges(t *testing.T, good string, changes []change, read func(body string) error) {
	t.Helper()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.old != "" && strings.Count(good, c.old) != 1 {
				t.Fatalf("%q is in the request %d times", c.old, strings.Count(good, c.old))
			}
			err := read(strings.Replace(good, c.old, c.new, 1))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReadOpenAI(t *testing.T) {
	t.Parallel()
	const good = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
		"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"r"},{"role":"assistant","content":"end"}]}`
	header := http.Header{"Authorization": {"Bearer " + Key}, "Content-Type": {"application/json"}}
	read := func(body string) error {
		_, err := readOpenAI(header, []byte(body))
		return err
	}
	checkChanges(t, good, []change{
		{"good", "", "", ""},
		{"unknown field", `"max_tokens"`, `"top_q":1,"max_tokens"`, "unknown field"},
		{"something behind", `"end"}]}`, `"end"}]} {}`, "follows"},
		{"no model", `"model":"m"`, `"model":""`, "missing"},
		{"options without a stream", `"stream":true,`, ``, "only allowed when stream"},
		{"no usage", `"include_usage":true`, ``, "without usage"},
		{"two limits", `"max_tokens":5`, `"max_tokens":5,"max_completion_tokens":5`, "exclude"},
		{"effort", `"max_tokens":5`, `"reasoning_effort":"much"`, "unknown"},
		{"schema of a list", `"type":"object"`, `"type":"array"`, "of type object"},
		{"name of a tool", `"name":"t","parameters"`, `"name":"t t","parameters"`, "does not fit"},
		{"role", `"role":"system"`, `"role":"boss"`, "role"},
		{"not answered", `{"role":"tool","tool_call_id":"a","content":"r"},`, ``, "not answered"},
		{"answered twice", `{"role":"assistant","content":"end"}`, `{"role":"tool","tool_call_id":"a","content":"r"}`, "not called"},
		{"other id", `"tool_call_id":"a"`, `"tool_call_id":"b"`, "not called"},
		{"arguments", `"arguments":"{}"`, `"arguments":"{"`, "not a JSON object"},
		{"no id", `"id":"a"`, `"id":""`, "id"},
		{"empty answer", `"content":"end"`, `"content":""`, "neither content nor calls"},
		{"picture of text", `image/png`, `text/plain`, "no data URL"},
		{"picture in a result", `"content":"r"`, `"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`, "part of type"},
		{"calls of the user", `{"role":"user",`, `{"role":"user","tool_calls":[],`, "cannot have calls"},
	}, read)
	if _, err := readOpenAI(http.Header{}, []byte(good)); err == nil {
		t.Error("a request without a key was not refused")
	}
}

func TestReadAnthropic(t *testing.T) {
	t.Parallel()
	good := `{"model":"m","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":1024},"system":[{"type":"text","text":"s"}],
		"tools":[{"name":"t","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"q"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + Sign("hm") + `"},{"type":"tool_use","id":"a","name":"t","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]},{"type":"text","text":"more"}]}]}`
	header := http.Header{"X-Api-Key": {Key}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	read := func(body string) error {
		_, err := readAnthropic(header, []byte(body))
		return err
	}
	const mark = `"cache_control":{"type":"ephemeral"},`
	checkChanges(t, good, []change{
		{"good", "", "", ""},
		{"unknown field", `"max_tokens"`, `"top_q":1,"max_tokens"`, "unknown field"},
		{"no limit", `"max_tokens":5000`, `"max_tokens":0`, "missing"},
		{"budget too small", `1024`, `1023`, "budget_tokens"},
		{"budget over the limit", `1024`, `5000`, "budget_tokens"},
		{"budget without use", `"enabled"`, `"adaptive"`, "budget_tokens"},
		{"effort", `"max_tokens"`, `"output_config":{"effort":"none"},"max_tokens"`, "effort"},
		{"empty system", `"text":"s"`, `"text":" "`, "without text"},
		{"blank text", `"text":"q"`, `"text":" "`, "empty"},
		{"schema of a list", `"type":"object"`, `"type":"array"`, "of type object"},
		{"two of a role", `{"role":"user","content":[{"type":"text","text":"q"}`, `{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"user","content":[{"type":"text","text":"q"}`, "want"},
		{"thinking changed", `"thinking":"hm"`, `"thinking":"ha"`, "signature"},
		{"thinking left out", `{"type":"thinking","thinking":"hm","signature":"` + Sign("hm") + `"},`, ``, "expected thinking"},
		{"result after text", `{"type":"tool_result"`, `{"type":"text","text":"x"},{"type":"tool_result"`, "without tool_result"},
		{"other id", `"tool_use_id":"a"`, `"tool_use_id":"b"`, "unexpected tool_use_id"},
		{"not answered", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]},`, ``, "without tool_result"},
		{"id", `"id":"a"`, `"id":"a:b"`, "does not fit"},
		{"id twice", `{"type":"tool_use"`, `{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use"`, "unique"},
		{"input", `"input":{}`, `"input":[]`, "not an object"},
		{"kind of picture", `image/png`, `image/tiff`, "image of type"},
		{"marks", `"type":"text","text":"s"`, mark + `"type":"text","text":"s"},{` + mark + `"type":"text","text":"s"},{` + mark + `"type":"text","text":"s"},{` + mark + `"type":"text","text":"s"},{` + mark + `"type":"text","text":"s"`, "at most 4"},
		{"ends with the model", `{"type":"text","text":"more"}]}]}`, `{"type":"text","text":"more"}]},{"role":"assistant","content":[{"type":"text","text":"x"}]}]}`, "must end with a user"},
	}, read)
	if _, err := readAnthropic(http.Header{}, []byte(good)); err == nil {
		t.Error("a request without a key was not refused")
	}
}
