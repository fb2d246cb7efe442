package openaitest

import (
	"net/http"
	"testing"

	"chela/internal/model/provider/providertest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const good = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
		"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"r"},{"role":"assistant","content":"end"}]}`
	header := http.Header{"Authorization": {"Bearer " + providertest.Key}, "Content-Type": {"application/json"}}
	refused := func(body string) error {
		_, err := read(header, []byte(body), Quirks{})
		return err
	}
	providertest.CheckChanges(t, good, []providertest.Change{
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
	}, refused)
	if _, err := read(http.Header{}, []byte(good), Quirks{}); err == nil {
		t.Error("a request without a key was not refused")
	}
}
