package anthropictest

import (
	"net/http"
	"testing"

	"chela/internal/model/provider/providertest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	good := `{"model":"m","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":1024},"system":[{"type":"text","text":"s"}],
		"tools":[{"name":"t","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"q"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + Sign("hm") + `"},{"type":"tool_use","id":"a","name":"t","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]},{"type":"text","text":"more"}]}]}`
	header := http.Header{"X-Api-Key": {providertest.Key}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	refused := func(body string) error {
		_, err := read(header, []byte(body))
		return err
	}
	const mark = `"cache_control":{"type":"ephemeral"},`
	providertest.CheckChanges(t, good, []providertest.Change{
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
	}, refused)
	if _, err := read(http.Header{}, []byte(good)); err == nil {
		t.Error("a request without a key was not refused")
	}
}
