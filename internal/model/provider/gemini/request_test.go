package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

// TestThinking has one model for each way to think.
func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		level chela.ThinkingLevel
		limit int
		want  string // generationConfig as sent
	}{
		{"gemini-2.5-flash", "", 0, ``},
		{"gemini-2.5-flash", "", 500, `{"maxOutputTokens":500}`},
		{"gemini-2.5-flash", chela.ThinkingOff, 0, `{"thinkingConfig":{"thinkingBudget":0}}`},
		{"gemini-2.5-pro", chela.ThinkingOff, 500, `{"maxOutputTokens":500,"thinkingConfig":{"thinkingBudget":128}}`},
		{"gemini-2.5-flash-lite", chela.ThinkingMinimal, 0, `{"thinkingConfig":{"thinkingBudget":512,"includeThoughts":true}}`},
		{"gemini-2.5-flash", chela.ThinkingLow, 0, `{"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}`},
		{"gemini-2.5-flash", chela.ThinkingMedium, 4000, `{"maxOutputTokens":4000,"thinkingConfig":{"thinkingBudget":2000,"includeThoughts":true}}`},
		{"gemini-2.5-flash", chela.ThinkingHigh, 100, `{"maxOutputTokens":100,"thinkingConfig":{"thinkingBudget":512,"includeThoughts":true}}`},
		{"gemini-2.5-flash", chela.ThinkingXHigh, 0, `{"thinkingConfig":{"thinkingBudget":24576,"includeThoughts":true}}`},
		{"gemini-2.5-pro", chela.ThinkingXHigh, 0, `{"thinkingConfig":{"thinkingBudget":32768,"includeThoughts":true}}`},
		{"gemini-3-flash-preview", chela.ThinkingOff, 0, `{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`},
		{"gemini-3.1-flash-lite", chela.ThinkingMinimal, 0, `{"thinkingConfig":{"thinkingLevel":"MINIMAL","includeThoughts":true}}`},
		{"gemini-3.8-flash", chela.ThinkingOff, 0, `{"thinkingConfig":{"thinkingLevel":"LOW"}}`},
		{"gemini-3.8-flash", chela.ThinkingMinimal, 0, `{"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true}}`},
		{"gemini-3.8-flash", chela.ThinkingMedium, 0, `{"thinkingConfig":{"thinkingLevel":"MEDIUM","includeThoughts":true}}`},
		{"gemini-3-pro-preview", chela.ThinkingMedium, 0, `{"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}`},
		{"gemini-3.1-pro-preview", chela.ThinkingMedium, 0, `{"thinkingConfig":{"thinkingLevel":"MEDIUM","includeThoughts":true}}`},
		{"gemini-4-argon", chela.ThinkingXHigh, 0, `{"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}`},
		{"gemini-flash-latest", chela.ThinkingLow, 0, `{"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true}}`},
		{"gemini-2.0-flash", chela.ThinkingHigh, 0, ``},
		{"gemma-3-27b-it", chela.ThinkingHigh, 0, ``},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+string(tt.level), func(t *testing.T) {
			t.Parallel()
			c := providertest.Stream(over)
			req := hello()
			req.Model, req.Thinking, req.MaxTokens = tt.model, tt.level, tt.limit
			if _, err := providertest.Ask(t, reach(t, c), req); err != nil {
				t.Fatal(err)
			}
			var sent struct {
				GenerationConfig json.RawMessage
			}
			if err := json.Unmarshal([]byte(c.Sent), &sent); err != nil {
				t.Fatal(err)
			}
			if got := string(sent.GenerationConfig); got != tt.want {
				t.Errorf("sent %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestSchemas has what the server does not know of JSON Schema, and what stands
// in for it.
func TestSchemas(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"as it is", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":["integer","null"],"minimum":1}},"required":["b"],"additionalProperties":false}`, ``},
		{"no parameters", `null`, `{"type":"object"}`},
		{"nothing said", `{}`, `{"type":"object"}`},
		{"no type", `{"properties":{}}`, `{"type":"object","properties":{}}`},
		{"unknown keywords", `{"$schema":"x","type":"object","properties":{"a":{"type":"string","minLength":1,"pattern":"^a","default":"a","examples":["a"]}},"patternProperties":{"^x":{}},"not":{}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"a property with the name of a keyword", `{"type":"object","properties":{"pattern":{"type":"string"},"default":{"type":"string"}}}`, ``},
		{"bounds", `{"type":"object","properties":{"a":{"exclusiveMinimum":0,"exclusiveMaximum":9},"b":{"exclusiveMinimum":0,"minimum":1},"c":{"minimum":0,"exclusiveMinimum":true}}}`, `{"type":"object","properties":{"a":{"minimum":0,"maximum":9},"b":{"minimum":1},"c":{"minimum":0}}}`},
		{"choices", `{"type":"object","properties":{"a":{"enum":["x",null,1]},"b":{"enum":[true]},"c":{"const":"k"},"d":{"const":null}}}`, `{"type":"object","properties":{"a":{"enum":["x",1]},"b":{},"c":{"enum":["k"]},"d":{}}}`},
		{"all of", `{"type":"object","properties":{"a":{"allOf":[{"type":"string","maxLength":3}]},"b":{"allOf":[{}],"anyOf":[{"type":"string"}]},"c":{"anyOf":[]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"anyOf":[{"type":"string"}]},"c":{}}}`},
		{"references", `{"type":"object","properties":{"a":{"$ref":"#/definitions/x","description":"d"}},"definitions":{"x":{"type":"string","minLength":1}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`},
		{"true and false", `{"type":"object","properties":{"a":true,"b":{"type":"array","items":true},"c":{"type":"array","items":[{}]}},"additionalProperties":{"type":"string","pattern":"a"}}`, `{"type":"object","properties":{"a":{},"b":{"type":"array"},"c":{"type":"array"}},"additionalProperties":{"type":"string"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := providertest.Stream(over)
			req := hello()
			req.Tools = []chela.ToolSpec{{Name: "t", Input: json.RawMessage(tt.schema)}}
			if _, err := providertest.Ask(t, reach(t, c), req); err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				tt.want = tt.schema
			}
			if want := `{"functionDeclarations":[{"name":"t","parametersJsonSchema":` + tt.want + `}]}`; !strings.Contains(c.Sent, want) {
				t.Errorf("sent %s\nwant %s", c.Sent, want)
			}
		})
	}
	req := hello()
	req.Tools = []chela.ToolSpec{{Name: "t", Input: json.RawMessage(`[]`)}}
	if _, err := providertest.Ask(t, reach(t, providertest.Stream(over)), req); chela.KindOf(err) != chela.Invalid {
		t.Errorf("a list as schema: got %v, want it refused", err)
	}
}
