package tool_test

import (
	"encoding/json"
	"testing"
	"time"

	"chela"
	"chela/internal/tool"
)

func FuzzCheck(f *testing.F) {
	for _, args := range []string{
		`{"path":"a","limit":"3","deep":"true","tags":"x","parts":{"line":1.0},"env":"{\"a\":1}","any":[1e3]}`,
		`"{\"file_path\":\"a\"}"`, `{"path":null,"limit":1e400}`, `{"path":7,"tags":"[\"x\"]","parts":[{"line":"1"}]}`, `[[[[`, ``,
	} {
		f.Add([]byte(args))
	}
	c := sample()
	set := newSet(f, c)
	f.Fuzz(func(t *testing.T, raw []byte) {
		began := time.Now()
		got, err := set.Check("sample", raw)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("Check(%q) took %s", raw, took)
		}
		if err != nil {
			if chela.KindOf(err) != chela.Invalid {
				t.Errorf("Check(%q): %v, want an Invalid error", raw, err)
			}
			return
		}
		again, err := set.Check("sample", got)
		if err != nil || string(again) != string(got) {
			t.Errorf("Check(%q) = %s, which checks as %s, %v", raw, got, again, err)
		}
		if canonical := tool.Canonical(got); string(canonical) != string(got) {
			t.Errorf("Check(%q) = %s, canonical is %s", raw, got, canonical)
		}
		problems, err := tool.Validate(c.Input, got)
		if err != nil || len(problems) > 0 {
			t.Errorf("Check(%q) = %s, which is not valid: %v, %v", raw, got, problems, err)
		}
		if _, err := c.Run(t.Context(), chela.ToolCall{Tool: "sample", Args: got}); err != nil {
			t.Errorf("Check(%q) = %s, which does not decode: %v", raw, got, err)
		}
		// Arguments that need no mending stay as they are.
		if problems, err := tool.Validate(c.Input, raw); err == nil && len(problems) == 0 {
			if want := tool.Canonical(raw); !sameValue(t, want, got) {
				t.Errorf("Check(%s) = %s, though it was valid", want, got)
			}
		}
	})
}

// sameValue reports whether two JSON texts mean the same, numbers compared as
// float64 are.
func sameValue(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	x, err := json.Marshal(decoded(t, string(a)))
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(decoded(t, string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
