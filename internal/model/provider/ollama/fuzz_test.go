package ollama_test

import (
	"strings"
	"testing"

	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

// FuzzStream feeds any bytes as the answer to a step: the stream has exactly
// one end.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		"", over, strings.TrimSpace(over), `{"message":{"content":"a"}}` + "\n" + over, `{"message":{"tool_calls":[{"id":1,"function":{"name":"t","arguments":"{"}}]}}` + "\n" + over,
		`{"message":{"thinking":"a","content":null}}` + "\r\n\r\n" + over, `{"error":"x"}`, `{"error":{"message":"x"}}` + "\n", "nul\n", "[]", `{"done":true,"prompt_eval_count":1e99}`,
		`{"message":[],"done":"true"}` + "\n",
	} {
		f.Add(body, false)
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, plain bool) {
		req := hello()
		req.Plain = plain
		finish, err := providertest.Ask(t, reach(t, talking("llama", 8192, all, body), ollama.Config{}), req)
		if err == nil && finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
	})
}

// FuzzShow feeds any bytes as what is told of a model: a step still has exactly
// one end, and asks for some room.
func FuzzShow(f *testing.F) {
	for _, shown := range []string{
		talking("llama", 8192, all).next["/api/show"][0], "", "{}", `{"model_info":{"x.context_length":"7"},"parameters":"num_ctx 1\nnum_ctx"}`,
		`{"capabilities":{},"details":[],"model_info":{"a.context_length":-1e99}}`, `{"model_info":{"a.context_length":1e99},"parameters":"num_ctx 99999999999"}`,
	} {
		f.Add(shown)
	}
	f.Fuzz(func(t *testing.T, shown string) {
		c := talking("", 0, nil, over)
		c.next["/api/show"] = []string{shown}
		if _, err := providertest.Ask(t, reach(t, c, ollama.Config{}), hello()); err != nil {
			return
		}
		if room := rooms(t, c)[0]; room < 1 {
			t.Errorf("asked for room of %d", room)
		}
	})
}
