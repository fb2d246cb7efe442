package script_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
	"chela/internal/model/provider/script"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		New: func(t *testing.T, c providertest.Case) chela.Provider { return setup(t, scenario(t, c)) },
	})
}

// scenario writes the answers of a case as the steps of a single turn.
func scenario(t *testing.T, c providertest.Case) string {
	t.Helper()
	var steps []map[string]any
	for _, a := range c.Answers {
		steps = append(steps, stepOf(a))
	}
	text, err := json.Marshal(map[string]any{
		"past_end": "repeat",
		"turns":    []any{map[string]any{"steps": steps}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func stepOf(a providertest.Answer) map[string]any {
	step := map[string]any{
		"thinking":    a.Thinking,
		"text":        strings.Join(a.Text, ""),
		"stop":        a.Stop,
		"chunk_bytes": max(a.Split, 3),
	}
	if a.Echo {
		step["text"] = "{{user}}"
	}
	if u := a.Usage; u != (chela.TokenUsage{}) {
		step["usage"] = u
	}
	var calls []any
	for _, c := range a.Calls {
		calls = append(calls, map[string]any{"tool": c.Tool, "ref": c.Ref, "args_raw": c.Args})
	}
	step["calls"] = calls
	if a.Fault != "" {
		step["fault"] = faultOf(a)
	}
	return step
}

// faultOf returns the fault of an answer. Those that break a stream come in
// the place of its end.
func faultOf(a providertest.Answer) map[string]any {
	const end = 1_000_000
	status := map[providertest.Fault]int{
		providertest.FaultRate: 429, providertest.FaultQuota: 402, providertest.FaultKey: 401, providertest.FaultModel: 404,
		providertest.FaultRefused: 400, providertest.FaultServer: 500, providertest.FaultOverloaded: 529, providertest.FaultPage: 502,
	}
	switch a.Fault {
	case providertest.FaultOverflow:
		return map[string]any{"overflow": true}
	case providertest.FaultHang, providertest.FaultSilent:
		return map[string]any{"hang": true, "after": end}
	case providertest.FaultCut, providertest.FaultEnd:
		return map[string]any{"cut": true, "after": end}
	case providertest.FaultGarbage, providertest.FaultEvent:
		return map[string]any{"status": 529, "after": end}
	default:
		return map[string]any{"status": status[a.Fault], "retry_after_ms": a.After.Milliseconds()}
	}
}

var _ chela.Provider = (*script.Provider)(nil)
