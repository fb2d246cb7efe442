package provider_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
)

// TestRefusedThinkingIsLeftOut: the errors are those that servers publish or answer.
func TestRefusedThinkingIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		msg    string
		cured  bool
	}{
		"Anthropic, a model without it": {400, "'claude-3-haiku-20240307' does not support thinking.", true},
		"Anthropic, another kind":       {400, "adaptive thinking is not supported on this model", true},
		"Anthropic, an old server":      {400, "thinking: Extra inputs are not permitted", true},
		"Gemini, a model without it":    {400, "Thinking is not enabled for models/gemini-2.0-flash", true},
		"Gemini, a level":               {400, "Thinking level HIGH is not supported for this model. Please retry with other thinking level.", true},
		"Gemini, cannot be turned off":  {400, "Budget 0 is invalid. This model only works in thinking mode.", true},
		"Ollama":                        {400, `"llama3.2" does not support thinking`, true},
		"Ollama, a level":               {400, `invalid think value: "xhigh" (must be "high", "medium", "low", "max", true, or false)`, true},
		"Bedrock":                       {400, "The model returned the following errors: #: extraneous key [reasoningConfig] is not permitted", true},
		"OpenRouter":                    {400, "Reasoning is mandatory for this endpoint and cannot be disabled.", true},
		"vLLM":                          {422, "reasoning_effort: unknown field", true},
		"another field":                 {400, "temperature is not supported by this model", false},
		"the level is not meant":        {400, "messages.1.content.0: Invalid `signature` in `thinking` block", false},
		"a limit":                       {429, "thinking is not available now", false},
		"an overload":                   {503, "thinking is not available now", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := failed(chela.ProviderError{Kind: chela.Invalid, Status: c.status, Msg: c.msg})
			f := &fake{ends: []end{refused, {texts: []string{"a"}}, {texts: []string{"a"}}, {texts: []string{"a"}}}}
			p := provider.Thinkless(f)
			ask := func(model string, level chela.ThinkingLevel) error {
				_, err := drain(t, p.Stream(t.Context(), &chela.Request{Model: model, Thinking: level}))
				return err
			}
			if err := ask("m", chela.ThinkingHigh); (err == nil) != c.cured {
				t.Fatalf("error %v, cured %v", err, c.cured)
			}
			want := []chela.ThinkingLevel{chela.ThinkingHigh}
			if c.cured {
				for _, q := range []struct {
					model string
					level chela.ThinkingLevel
				}{{"m", chela.ThinkingHigh}, {"other", chela.ThinkingHigh}} {
					if err := ask(q.model, q.level); err != nil {
						t.Error(err)
					}
				}
				want = []chela.ThinkingLevel{chela.ThinkingHigh, "", "", chela.ThinkingHigh}
			}
			if diff := cmp.Diff(want, f.levels); diff != "" {
				t.Errorf("levels of the requests (-want +got)\n%s", diff)
			}
		})
	}
}

// TestRefusedWithoutThinking: a request without a level is not sent again.
func TestRefusedWithoutThinking(t *testing.T) {
	t.Parallel()
	f := &fake{ends: []end{failed(chela.ProviderError{Kind: chela.Invalid, Status: 400, Msg: "thinking is not supported"})}}
	if _, err := drain(t, provider.Thinkless(f).Stream(t.Context(), &chela.Request{Model: "m"})); err == nil || f.asked() != 1 {
		t.Errorf("%d requests, %v", f.asked(), err)
	}
}
