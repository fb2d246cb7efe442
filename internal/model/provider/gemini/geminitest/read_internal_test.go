package geminitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela/internal/model/provider/providertest"
)

// readAs reads a request for a model as the server does.
func readAs(model, method, body string) error {
	r := httptest.NewRequest(http.MethodPost, "/v1beta/models/x"+method, strings.NewReader(body))
	r.SetPathValue("model", model+strings.TrimSuffix(method, "?alt=sse"))
	r.Header.Set("X-Goog-Api-Key", providertest.Key)
	r.Header.Set("Content-Type", "application/json")
	_, err := read(r, []byte(body))
	return err
}

const stream = ":streamGenerateContent?alt=sse"

func TestRead(t *testing.T) {
	t.Parallel()
	good := `{"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"maxOutputTokens":500,"thinkingConfig":{"thinkingLevel":"LOW"}},
		"tools":[{"functionDeclarations":[{"name":"t","parametersJsonSchema":{"type":"object","properties":{"p":{"type":"string"}}}}]}],
		"contents":[{"role":"user","parts":[{"text":"q"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
		{"role":"model","parts":[{"text":"hm"},{"functionCall":{"id":"a","name":"t","args":{}},"thoughtSignature":"` + Sign("t") + `"},{"functionCall":{"id":"b","name":"t","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"t","response":{"output":"r"},"parts":[]}},{"functionResponse":{"id":"b","name":"t","response":{"error":"no"}}}]},
		{"role":"user","parts":[{"text":"more"}]}]}`
	const second = `{"functionResponse":{"id":"b","name":"t","response":{"error":"no"}}}`
	providertest.CheckChanges(t, good, []providertest.Change{
		{"good", "", "", ""},
		{"unknown field", `"systemInstruction"`, `"system":1,"systemInstruction"`, "unknown field"},
		{"no limit", `500`, `0`, "positive"},
		{"level and budget", `"thinkingLevel"`, `"thinkingBudget":1,"thinkingLevel"`, "only one"},
		{"level", `"LOW"`, `"SOME"`, "not supported"},
		{"empty system", `"text":"s"`, `"text":""`, "without text"},
		{"empty text", `"text":"q"`, `"text":""`, "oneof"},
		{"two in one", `"text":"q"`, `"text":"q","inlineData":{}`, "oneof"},
		{"name of a function", `"name":"t","parameters`, `"name":"7","parameters`, "must start with"},
		{"schema of a list", `"type":"object"`, `"type":"array"`, "of type object"},
		{"keyword", `"type":"string"`, `"type":"string","minLength":1`, "unknown name"},
		{"beside a reference", `"type":"string"`, `"$ref":"#","type":"string"`, "beside $ref"},
		{"properties of another form", `{"p":{"type":"string"}}`, `[]`, "another form"},
		{"role", `{"role":"model"`, `{"role":"assistant"`, "role"},
		{"begins with the model", `"contents":[`, `"contents":[{"role":"model","parts":[{"text":"x"}]},`, "begin and end"},
		{"ends with the model", `{"text":"more"}]}]`, `{"text":"more"}]},{"role":"model","parts":[{"text":"x"}]}]`, "begin and end"},
		{"not signed", `,"thoughtSignature":"` + Sign("t") + `"`, ``, "missing a thought_signature"},
		{"signed otherwise", Sign("t"), Sign("u"), "corrupted"},
		{"begun elsewhere", Sign("t"), "skip_thought_signature_validator", ""},
		{"args", `"args":{}},"thought`, `"args":[]},"thought`, "not an object"},
		{"id twice", `"id":"b","name":"t","args"`, `"id":"a","name":"t","args"`, "used twice"},
		{"not answered", "," + second, ``, "number of function response parts"},
		{"text among results", second, `{"text":"x"}`, "number of function response parts"},
		{"other id", `"id":"a","name":"t","response"`, `"id":"c","name":"t","response"`, "does not match"},
		{"result of another form", `{"error":"no"}`, `{"fault":"no"}`, "function response has"},
		{"kind of picture", `image/png`, `image/tiff`, "unsupported MIME type"},
		{"call after a call", `{"role":"user","parts":[{"functionResponse"`, `{"role":"model","parts":[{"text":"x"}]},{"role":"user","parts":[{"functionResponse"`, "immediately after"},
		{"signed by the user", `"text":"more"`, `"text":"more","thoughtSignature":"x"`, "only the model"},
	}, func(body string) error { return readAs("gemini-3.8-flash", stream, body) })
	if readAs("gemini-3.8-flash", ":streamGenerateContent", good) == nil {
		t.Error("a stream without alt=sse was not refused")
	}
	if _, err := read(httptest.NewRequest(http.MethodPost, "/", nil), []byte(good)); err == nil {
		t.Error("a request without a key was not refused")
	}
}

// TestReadBudgets has what models of generation 2.5 are asked with.
func TestReadBudgets(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model, config string
		ok            bool
	}{
		{"gemini-2.5-flash", `"thinkingBudget":0`, true},
		{"gemini-2.5-flash", `"thinkingBudget":24577`, false},
		{"gemini-2.5-pro", `"thinkingBudget":32768`, true},
		{"gemini-2.5-pro", `"thinkingBudget":0`, false},
		{"gemini-2.5-flash", `"thinkingBudget":127`, false},
		{"gemini-2.5-flash", `"thinkingLevel":"LOW"`, false},
		{"gemini-3.8-flash", `"thinkingBudget":1024`, false},
		{"gemini-3.8-flash", `"thinkingLevel":"MINIMAL"`, false},
		{"gemini-2.0-flash", `"thinkingBudget":1024`, false},
	}
	for _, tt := range tests {
		body := `{"generationConfig":{"thinkingConfig":{` + tt.config + `}},"contents":[{"role":"user","parts":[{"text":"q"}]}]}`
		if err := readAs(tt.model, ":generateContent", body); (err == nil) != tt.ok {
			t.Errorf("%s with %s: got %v", tt.model, tt.config, err)
		}
	}
}
