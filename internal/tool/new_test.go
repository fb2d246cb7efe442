package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool"
)

func TestNewMakesTheSchema(t *testing.T) {
	t.Parallel()
	want := `{
		"type": "object",
		"properties": {
			"path": {"type": "string", "description": "the file"},
			"limit": {"type": "integer", "description": "how many lines", "minimum": 1, "maximum": 10},
			"ratio": {"type": "number", "description": "how much"},
			"deep": {"type": "boolean", "description": "with folders"},
			"kind": {"type": "string", "description": "which kind", "enum": ["file", "dir"]},
			"tags": {"type": "array", "description": "labels", "items": {"type": "string"}},
			"parts": {
				"type": "array", "description": "the parts",
				"items": {
					"type": "object", "required": ["line"], "additionalProperties": false,
					"properties": {
						"line": {"type": "integer", "description": "which line", "minimum": 1, "maximum": 9007199254740992},
						"text": {"type": "string", "description": "what it says"}
					}
				}
			},
			"env": {"type": "object", "description": "numbers by name", "additionalProperties": {"type": "integer", "minimum": -9007199254740992, "maximum": 9007199254740992}},
			"any": {"description": "any value"}
		},
		"required": ["path"],
		"additionalProperties": false
	}`
	if diff := cmp.Diff(decoded(t, want), decoded(t, string(sample().Input))); diff != "" {
		t.Errorf("schema (-want +got)\n%s", diff)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

type noTags struct{ Path string }

type noDescription struct {
	Path string `json:"path"`
}

type badBound struct {
	N int `json:"n" jsonschema:"a number" min:"many"`
}

type boundOfText struct {
	S string `json:"s" jsonschema:"a text" min:"1"`
}

func TestNewPanicsOnMistakes(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"no run":         func() { tool.New[echoInput]("x", "", nil, nil) },
		"no struct":      func() { makeTool[string]() },
		"no tags":        func() { makeTool[noTags]() },
		"no description": func() { makeTool[noDescription]() },
		"bad bound":      func() { makeTool[badBound]() },
		"bound of text":  func() { makeTool[boundOfText]() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("New returned, want a panic")
				}
			}()
			f()
		})
	}
}

// makeTool makes a tool with inputs In.
func makeTool[In any]() chela.Tool {
	return tool.New("x", "", func(context.Context, tool.Call[In]) (chela.ToolResult, error) {
		return chela.ToolResult{}, nil
	}, nil)
}

func TestUncheckedArguments(t *testing.T) {
	t.Parallel()
	c := tool.New("x", "", func(context.Context, tool.Call[echoInput]) (chela.ToolResult, error) { return tool.Done("ran"), nil }, func(echoInput) chela.Judgement { return chela.Judgement{Effect: chela.EffectRead} })
	for _, args := range []string{`{"message":3}`, `{"other":"x"}`, `[`} {
		if res, err := c.Run(t.Context(), chela.ToolCall{Tool: "x", Args: json.RawMessage(args)}); chela.KindOf(err) != chela.Internal {
			t.Errorf("Run(%s) = %+v, %v; want an Internal error", args, res, err)
		}
		if j := c.Judge(json.RawMessage(args)); j.Effect != chela.EffectExecute || !j.Exact || j.Risk == "" {
			t.Errorf("Judge(%s) = %+v, want the strictest judgement", args, j)
		}
	}
}

func TestOutcomeTellsTheModelWhatItCanCure(t *testing.T) {
	t.Parallel()
	full := chela.E(chela.Exhausted, "the store is full")
	for name, tt := range map[string]struct {
		err   error
		text  string // of the result; none where the call is made again later
		later bool
	}{
		"done":              {nil, "made", false},
		"a name nobody has": {chela.E(chela.NotFound, "no such job"), "no such job", false},
		"a bound":           {chela.E(chela.Exhausted, "five at most"), "five at most", false},
		"away":              {chela.E(chela.Unavailable, "the store is away"), "", true},
		"broken":            {errors.New("no page 7"), "", true},
		"full":              {tool.OrLater(full), "", true},
		"full, twice told":  {tool.OrLater(tool.OrLater(full)), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := tool.Outcome("made", tt.err)
			if errors.Is(err, chela.ErrLater) != tt.later || (err != nil) != tt.later {
				t.Errorf("error %v, later is %t wanted", err, tt.later)
			}
			if res.Text != tt.text || res.Failed != (tt.err != nil && !tt.later) {
				t.Errorf("result %+v, %q wanted", res, tt.text)
			}
		})
	}
}
