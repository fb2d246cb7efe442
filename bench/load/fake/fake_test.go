package fake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/bench/load/fake"
)

func setup(t *testing.T, cfg fake.Config) *httptest.Server {
	t.Helper()
	s, err := fake.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

const words = " This is the answer of a model that does not think before it speaks."

const (
	asked    = `{"messages":[{"role":"user","content":"say load-7"}]`
	resulted = `{"messages":[{"role":"user","content":"say load-7"},{"role":"tool","content":"load-8"}]`
)

// A piece is an answer or an event of a stream, as far as it matters.
type piece struct {
	Choices []struct {
		Message, Delta struct {
			Content   string
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		Total int `json:"total_tokens"`
	}
}

// outline puts an answer into a few words, whether it was streamed or not.
func outline(t *testing.T, answer string) string {
	t.Helper()
	var text []string
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if line == "" || line == "[DONE]" {
			text = append(text, line)
			continue
		}
		var p piece
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, c := range p.Choices {
			text = append(text, c.Message.Content+c.Delta.Content)
			for _, call := range append(c.Message.ToolCalls, c.Delta.ToolCalls...) {
				text = append(text, call.ID, call.Function.Name, call.Function.Arguments)
			}
			text = append(text, c.FinishReason)
		}
		if p.Usage.Total > 0 {
			text = append(text, fmt.Sprint("used ", p.Usage.Total))
		}
	}
	return strings.Trim(strings.Join(strings.Fields(strings.Join(text, " ")), " "), " ")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text, more := "load-7"+words, words
	withTool := fake.Config{Mode: fake.Tool, Tool: "time", Arguments: `{"zone":"a\"b"}`}
	for _, tt := range []struct {
		name string
		cfg  fake.Config
		body string
		want string
	}{
		{"plain", fake.Config{}, asked + `}`, text + " stop used 36"},
		{"stream", fake.Config{}, asked + `,"stream":true}`, text + " stop [DONE]"},
		{"pieces", fake.Config{Chunks: 3}, asked + `,"stream":true}`, text + more + more + " stop [DONE]"},
		{"pauses", fake.Config{Chunks: 2, Pause: time.Millisecond}, asked + `,"stream":true}`, text + more + " stop [DONE]"},
		{
			"usage",
			fake.Config{},
			asked + `,"stream":true,"stream_options":{"include_usage":true}}`,
			text + " stop used 36 [DONE]",
		},
		{"call", withTool, asked + `}`, `call_load-7 time {"zone":"a\"b"} tool_calls used 36`},
		{"streamed call", withTool, asked + `,"stream":true}`, `call_load-7 time {"zone":"a\"b"} tool_calls [DONE]`},
		{"after a call", withTool, resulted + `}`, text + " stop used 36"},
		{"streamed after a call", withTool, resulted + `,"stream":true}`, text + " stop [DONE]"},
		{"no mark", fake.Config{}, `{"messages":[]}`, "1" + words + " stop used 36"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, answer := post(t, setup(t, tt.cfg).URL, tt.body)
			if diff := cmp.Diff(tt.want, outline(t, answer)); status != http.StatusOK || diff != "" {
				t.Errorf("status %d, answer (-want +got):\n%s", status, diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := setup(t, fake.Config{})
	if status, answer := post(t, server.URL, "{"); status != http.StatusBadRequest || !json.Valid([]byte(answer)) {
		t.Errorf("half a body: %d %s", status, answer)
	}
	res, err := http.Get(server.URL + "/v1/files")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("unknown route: %s", res.Status)
	}
	for _, cfg := range []fake.Config{{Mode: "slow"}, {Arguments: "[]"}, {Chunks: -1}} {
		if _, err := fake.New(cfg); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%+v: error %v", cfg, err)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	res, err := http.Get(setup(t, fake.Config{}).URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || list.Data[0].ID != fake.Model {
		t.Errorf("models %+v", list)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	const latency = 30 * time.Millisecond
	server := setup(t, fake.Config{Latency: latency})
	begun := time.Now()
	post(t, server.URL, asked+`}`)
	if took := time.Since(begun); took < latency {
		t.Errorf("answered within %v", took)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	s, err := fake.New(fake.Config{Latency: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, ln) }()
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		res, err := http.Post("http://"+ln.Addr().String()+"/v1/chat/completions", "application/json", strings.NewReader(asked+`}`))
		if err == nil {
			res.Body.Close()
			t.Errorf("an answer that takes an hour came: %s", res.Status)
		}
	}()
	for s.Requests() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-asking
	if err := s.Run(t.Context(), ln); err == nil {
		t.Error("a listener that was closed was served")
	}
}
