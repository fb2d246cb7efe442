package provider_test

import (
	"errors"
	"testing"

	"chela"
	"chela/internal/model/provider"
)

// TestMissingParameterIsRefused does not ask a model whose protocol lacks a parameter
// of the request, and says which.
func TestMissingParameterIsRefused(t *testing.T) {
	t.Parallel()
	format := &chela.Format{}
	tool := []chela.ToolSpec{{Name: "f"}}
	known := []provider.Parameter{provider.ParameterStop, provider.ParameterJSONObject}
	for _, c := range []struct {
		name     string
		sampling *chela.Sampling
		tools    []chela.ToolSpec
		lacking  string
	}{
		{"nothing set", nil, tool, ""},
		{"known", &chela.Sampling{Stop: []string{"END"}, Format: format}, nil, ""},
		{"unknown", &chela.Sampling{Seed: new(int64(1)), TopK: new(int64(2))}, nil, "top_k, seed"},
		{"with tools", &chela.Sampling{Format: format}, tool, "response_format with tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inner := &fake{ends: []end{{texts: []string{"ok"}}}}
			var failed error
			for _, err := range provider.Parameters(inner, "local", known).Stream(t.Context(), &chela.Request{Sampling: c.sampling, Tools: c.tools}) {
				failed = errors.Join(failed, err)
			}
			if c.lacking == "" {
				if failed != nil || inner.asked() != 1 {
					t.Errorf("asked %d times: %v", inner.asked(), failed)
				}
				return
			}
			want := "local: its protocol does not support " + c.lacking
			if chela.KindOf(failed) != chela.Unsupported || failed.Error() != want || inner.asked() != 0 {
				t.Errorf("asked %d times: %v, want %s", inner.asked(), failed, want)
			}
		})
	}
}
