package ollama_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

const full = `400 {"error":"{\"error\":{\"code\":400,\"message\":\"request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it\",` +
	`\"type\":\"exceed_context_size_error\"}}"}`

// TestRoom looks at how much room is asked for, request by request.
func TestRoom(t *testing.T) {
	t.Parallel()
	filled := strings.Replace(over, `"prompt_eval_count":9`, `"prompt_eval_count":8192`, 1)
	tests := []struct {
		name    string
		window  int    // of the model
		most    int    // of the configuration
		own     string // parameters of the model
		req     chela.Request
		answers []string
		want    []int // num_ctx of each request
		refused bool
	}{
		{name: "short", window: 131_072, answers: []string{over}, want: []int{8_192}},
		{name: "small window", window: 4_096, answers: []string{over}, want: []int{4_096}},
		{name: "counted", window: 131_072, req: chela.Request{Tokens: 20_000}, answers: []string{over}, want: []int{32_768}},
		{name: "not counted", window: 131_072, req: chela.Request{System: strings.Repeat("word ", 20_000)}, answers: []string{over}, want: []int{65_536}},
		{name: "long answer", window: 131_072, req: chela.Request{MaxTokens: 32_000}, answers: []string{over}, want: []int{32_768}},
		{name: "more than the window", window: 32_768, req: chela.Request{Tokens: 90_000}, answers: []string{over}, want: []int{32_768}},
		{name: "set by the model", window: 131_072, own: "num_ctx                        16384", answers: []string{over}, want: []int{16_384}},
		{name: "set by the configuration", window: 131_072, most: 10_000, req: chela.Request{Tokens: 20_000}, answers: []string{over}, want: []int{10_000}},
		{name: "window not told", answers: []string{full, full, full, full, full}, want: []int{8_192, 16_384, 32_768, 65_536}, refused: true},
		{name: "window not told but room", own: "num_ctx                        131072", answers: []string{over}, want: []int{131_072}},
		{name: "did not fit", window: 131_072, answers: []string{full, over}, want: []int{8_192, 16_384}},
		{name: "does not fit the window", window: 12_000, answers: []string{full, full}, want: []int{8_192, 12_000}, refused: true},
		{name: "cut by a server that does not know better", window: 131_072, answers: []string{filled, over}, want: []int{8_192, 16_384}},
		{
			name: "cut after something was said", window: 131_072,
			answers: []string{`{"message":{"content":"a"}}` + "\n" + filled, over}, want: []int{8_192}, refused: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := talking("llama", tt.window, all, tt.answers...)
			if tt.own != "" {
				shown := strings.Replace(c.next["/api/show"][0], `"parameters":"`, `"parameters":"`+tt.own+`\n`, 1)
				c.next["/api/show"] = []string{shown}
			}
			req := hello()
			req.System, req.Tokens, req.MaxTokens = tt.req.System, tt.req.Tokens, tt.req.MaxTokens
			p := reach(t, c, ollama.Config{Window: tt.most})
			if n := p.Window("m"); n != 0 {
				t.Errorf("the window was %d before anybody asked", n)
			}
			_, err := providertest.Ask(t, p, req)
			if got := rooms(t, c); p.Window("m") < got[len(got)-1] {
				t.Errorf("the window is %d", p.Window("m"))
			}
			if (err != nil) != tt.refused || tt.refused && !strings.Contains(fmt.Sprintf("%+v", err), "fit") && !strings.Contains(err.Error(), "exceeds") {
				t.Errorf("ended with %v", err)
			}
			if diff := cmp.Diff(tt.want, rooms(t, c)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func rooms(t *testing.T, c *canned) (all []int) {
	t.Helper()
	for _, sent := range c.sent {
		var body struct {
			Options struct {
				NumCtx int `json:"num_ctx"`
			}
		}
		if err := json.Unmarshal([]byte(sent), &body); err != nil {
			t.Fatal(err)
		}
		all = append(all, body.Options.NumCtx)
	}
	return all
}

// TestLooksAgain shows that a model is asked for once, and again after it
// refused what it should be able to do.
func TestLooksAgain(t *testing.T) {
	t.Parallel()
	c := talking("llama", 8192, all, over, over, `400 {"error":"m does not support tools"}`, over)
	small := strings.Replace(c.next["/api/show"][0], "8192", "4096", 1)
	c.next["/api/show"] = append(c.next["/api/show"], small)
	p := reach(t, c, ollama.Config{})
	for range 4 {
		_, _ = providertest.Ask(t, p, hello()) // what was sent tells
	}
	if diff := cmp.Diff([]int{8192, 8192, 8192, 4096}, rooms(t, c)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	c := talking("bert", 512, []string{"embedding"})
	cloud := strings.Replace(talking("gptoss", 131_072, []string{"completion", "tools", "thinking"}).next["/api/show"][0], "{", `{"remote_host":"https://ollama.com:443",`, 1)
	gemma := talking("gemma3", 8_192, []string{"completion", "vision"}).next["/api/show"][0]
	c.next["/api/show"] = append(c.next["/api/show"], gemma, cloud)
	c.next["/api/tags"] = []string{`{"models":[{"name":"nomic-embed-text:latest"},{"name":"gemma3:4b","size":1},{"name":"gpt-oss:20b-cloud"}]}`}
	p := reach(t, c, ollama.Config{})
	got, err := p.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []chela.Model{
		{Provider: "fake", Name: "gemma3:4b", Window: 8_192, Price: &chela.Price{}, Abilities: []chela.Ability{chela.AbleImages}},
		{Provider: "fake", Name: "gpt-oss:20b-cloud", Window: 131_072, Abilities: []chela.Ability{chela.AbleTools, chela.AbleParallel, chela.AbleThinking}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if first, err := p.First(t.Context()); err != nil || first != "gpt-oss:20b-cloud" {
		t.Errorf("the first model is %q (%v), want the one that calls tools", first, err)
	}
	c.next["/api/tags"] = []string{`{"models":[{"name":"nomic-embed-text:latest"},{"name":"gemma3:4b"}]}`}
	if first, err := p.First(t.Context()); err != nil || first != "gemma3:4b" {
		t.Errorf("the first model is %q (%v), want the one that talks", first, err)
	}
	c.next["/api/tags"] = []string{`{"models":[]}`}
	if first, err := p.First(t.Context()); chela.KindOf(err) != chela.NotFound {
		t.Errorf("the first model is %q (%v), want none", first, err)
	}
}
