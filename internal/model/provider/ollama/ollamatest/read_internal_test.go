package ollamatest

import (
	"net/http"
	"testing"

	"chela/internal/model/provider/providertest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const good = `{"model":"m","stream":true,"truncate":false,"shift":false,"think":true,"options":{"num_ctx":8192,"num_predict":5},
		"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"s"},{"role":"user","content":"q","images":["AAAA"]},
		{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"t","arguments":{}}}]},
		{"role":"tool","content":"r","tool_name":"t","tool_call_id":"a"},{"role":"assistant","content":"end"}]}`
	header := http.Header{"Authorization": {"Bearer " + providertest.Key}}
	refused := func(body string) error {
		_, err := read(&http.Request{Header: header}, []byte(body))
		return err
	}
	providertest.CheckChanges(t, good, []providertest.Change{
		{"good", "", "", ""},
		{"unknown field", `"stream"`, `"strem":1,"stream"`, "unknown field"},
		{"no model", `"model":"m"`, `"model":""`, "model is required"},
		{"prompt cut", `"truncate":false`, `"truncate":true`, "may be cut"},
		{"prompt pushed out", `"shift":false,`, ``, "may be cut"},
		{"room left open", `"num_ctx":8192,`, ``, "num_ctx"},
		{"thinking", `"think":true`, `"think":"xhigh"`, "invalid think value"},
		{"schema of a list", `"type":"object"`, `"type":"array"`, "is none"},
		{"role", `"role":"system"`, `"role":"boss"`, "role"},
		{"picture", `"AAAA"`, `"data:image/png;base64,AAAA"`, "illegal base64"},
		{"arguments", `"arguments":{}`, `"arguments":"{}"`, "cannot unmarshal"},
		{"not answered", `{"role":"tool","content":"r","tool_name":"t","tool_call_id":"a"},`, ``, "before the results"},
		{"other id", `"tool_call_id":"a"`, `"tool_call_id":"b"`, "answers no call"},
		{"other tool", `"tool_name":"t"`, `"tool_name":"u"`, "answers no call"},
	}, refused)
	if _, err := read(&http.Request{}, []byte(good)); err != nil {
		t.Errorf("a request without a key was refused: %v", err)
	}
	if _, err := read(&http.Request{Header: http.Header{"Authorization": {"Bearer other"}}}, []byte(good)); err == nil {
		t.Error("a request with another key was not refused")
	}
}
