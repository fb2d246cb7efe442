package bedrocktest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"chela/internal/model/provider/providertest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const good = `{"system":[{"text":"s"},{"cachePoint":{"type":"default"}}],"inferenceConfig":{"maxTokens":5},
		"toolConfig":{"tools":[{"toolSpec":{"name":"t","inputSchema":{"json":{"type":"object"}}}}]},
		"messages":[{"role":"user","content":[{"text":"q"},{"image":{"format":"png","source":{"bytes":"AAAA"}}}]},
		{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"sig-hm"}}},{"toolUse":{"toolUseId":"a","name":"t","input":{}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"r"}],"status":"error"}},{"cachePoint":{"type":"default"}}]}]}`
	refused := func(body string) error {
		r := httptest.NewRequest("POST", "/model/claude/converse", strings.NewReader(body))
		r.SetPathValue("model", "claude")
		r.SetPathValue("operation", "converse")
		r.Header.Set("Authorization", "Bearer "+providertest.Key)
		_, err := read(r, []byte(body))
		return err
	}
	providertest.CheckChanges(t, good, []providertest.Change{
		{"good", "", "", ""},
		{"unknown field", `"maxTokens"`, `"maxToken":1,"maxTokens"`, "unknown field"},
		{"no room", `"maxTokens":5`, `"maxTokens":0`, "maxTokens"},
		{"blank system", `"text":"s"`, `"text":" "`, "blank"},
		{"schema of a list", `"type":"object"`, `"type":"array"`, "of type object"},
		{"no tools", `"toolSpec":{"name":"t","inputSchema":{"json":{"type":"object"}}}`, `"cachePoint":{"type":"default"}`, "toolConfig"},
		{"empty tool", `"toolSpec":{"name":"t","inputSchema":{"json":{"type":"object"}}}`, ``, "empty"},
		{"blank text", `"text":"q"`, `"text":""`, "blank"},
		{"picture of another kind", `"format":"png"`, `"format":"tiff"`, "blank"},
		{"roles", `"role":"assistant"`, `"role":"user"`, "alternate"},
		{"signature", `"sig-hm"`, `"x"`, "signature"},
		{"id of a call", `"toolUseId":"a","name"`, `"toolUseId":"a b","name"`, "does not fit"},
		{"arguments", `"input":{}`, `"input":null`, "no object"},
		{"other id", `"toolUseId":"a","content"`, `"toolUseId":"b","content"`, "answers no call"},
		{"result without content", `[{"text":"r"}]`, `[]`, "no content"},
		{"text ahead of a result", `{"toolResult"`, `{"text":"x"},{"toolResult"`, "without results"},
		{"last word", `,
		{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"r"}],"status":"error"}},{"cachePoint":{"type":"default"}}]}`, ``, "must end with a user"},
	}, refused)
	r := httptest.NewRequest("POST", "/", strings.NewReader(good))
	if _, err := read(r, []byte(good)); err == nil {
		t.Error("a request without keys was not refused")
	}
}
