// Package ollamatest is a server that speaks the native protocol of Ollama and
// refuses what the real one refuses. It was written from
// https://docs.ollama.com/api and from what users report of its errors.
package ollamatest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

type object = providertest.Object

// abilities are what the models of the server tell that they can do.
var abilities = []string{"completion", "tools", "vision", "thinking"}

// New starts a server that does what c tells. It lists the model test-model and
// has every one that it is asked for. It is closed when the test ends.
func New(t *testing.T, c providertest.Case) *httptest.Server {
	t.Helper()
	return providertest.Serve(t, c, providertest.Protocol{
		Path: "/api/chat", Read: read, Events: events, Plain: plain, Refuse: refuse, Type: "application/x-ndjson",
		Frame:      func(e providertest.Event) []byte { return append(e.Bytes(), '\n') },
		Overloaded: providertest.Event{Data: object{"error": "an error was encountered while running the model: unexpected EOF"}},
		Else:       show(c.Answer(0).Fault),
		Embed:      embed,
		Embeds:     "/api/embed",
	})
}

// show tells about a model. What is refused for the model or the key is refused
// here too.
func show(f providertest.Fault) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusOK, any(Describe("llama", 131_072, abilities...))
		switch {
		case r.URL.Path == "/api/tags" && r.Method == http.MethodGet:
			body = object{"models": []any{object{"name": "test-model", "model": "test-model", "size": 4_661_224_676}}}
		case r.URL.Path == "/api/version" && r.Method == http.MethodGet:
			body = object{"version": "0.14.2"}
		case r.URL.Path != "/api/show" || r.Method != http.MethodPost:
			status, body = http.StatusNotFound, object{"error": "no such path"}
		case f == providertest.FaultModel || f == providertest.FaultKey:
			status, body = refuse(f)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // who does not read it has gone
	})
}

// Describe returns what /api/show answers for a model of a family.
func Describe(family string, window int, abilities ...string) providertest.Object {
	return object{
		"license": "MIT", "modelfile": "FROM x", "parameters": "stop                           \"<|eot_id|>\"\ntemperature                    0.6",
		"template": "{{ .Prompt }}", "modified_at": "2026-11-01T10:00:00.1Z", "capabilities": abilities,
		"details":    object{"parent_model": "", "format": "gguf", "family": family, "families": []string{family}, "parameter_size": "8.0B", "quantization_level": "Q4_K_M"},
		"model_info": object{"general.architecture": family, "general.parameter_count": 8_030_261_312, family + ".context_length": window, family + ".embedding_length": 4096, "tokenizer.ggml.tokens": nil},
	}
}

// events returns the lines of an answer, the last one apart.
func events(a providertest.Answer) (stream, end []providertest.Event) {
	say := func(message object) {
		message["role"] = "assistant"
		stream = append(stream, providertest.Event{Data: object{"model": "test-model", "created_at": "2026-11-01T10:00:00.1Z", "message": message, "done": false}})
	}
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		say(object{"content": "", "thinking": a.Thinking[:half]})
		say(object{"content": "", "thinking": a.Thinking[half:]})
	}
	for _, text := range a.Text {
		say(object{"content": text})
	}
	for i, c := range a.Calls {
		say(object{"content": "", "tool_calls": []any{called(i, c)}})
	}
	return stream, []providertest.Event{{Data: last(a)}}
}

// called returns a call. The server itself reads the arguments that a model
// wrote, so they are an object.
func called(i int, c providertest.Call) object {
	args := json.RawMessage(c.Args)
	if c.Args == "" {
		args = json.RawMessage("{}")
	}
	return object{"id": c.Ref, "function": object{"index": i, "name": c.Tool, "arguments": args}}
}

func last(a providertest.Answer) object {
	reason := "stop"
	if a.Stop == chela.StopLength {
		reason = "length"
	}
	return object{
		"model": "test-model", "created_at": "2026-11-01T10:00:01.1Z", "message": object{"role": "assistant", "content": ""},
		"done": true, "done_reason": reason, "total_duration": 1_000_000, "load_duration": 1_000, "prompt_eval_count": a.Usage.Input,
		"prompt_eval_duration": 1_000, "eval_count": a.Usage.Output, "eval_duration": 1_000,
	}
}

func plain(a providertest.Answer) any {
	message := object{"role": "assistant", "content": ""}
	for _, text := range a.Text {
		message["content"] = message["content"].(string) + text
	}
	if a.Thinking != "" {
		message["thinking"] = a.Thinking
	}
	var calls []any
	for i, c := range a.Calls {
		calls = append(calls, called(i, c))
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	whole := last(a)
	whole["message"] = message
	return whole
}

func refuse(f providertest.Fault) (int, any) {
	said := func(status int, message string) (int, any) { return status, object{"error": message} }
	switch f {
	case providertest.FaultRate:
		return said(http.StatusTooManyRequests, "too many concurrent requests")
	case providertest.FaultQuota:
		return said(http.StatusTooManyRequests, "you (somebody) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade")
	case providertest.FaultKey:
		return said(http.StatusUnauthorized, "unauthorized: "+providertest.Key)
	case providertest.FaultOverflow:
		return said(http.StatusBadRequest, `{"error":{"code":400,"message":"request (140351 tokens) exceeds the available context size (131072 tokens), try increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":140351,"n_ctx":131072}}`)
	case providertest.FaultModel:
		return said(http.StatusNotFound, "model 'test-model' not found")
	case providertest.FaultServer:
		return said(http.StatusInternalServerError, "llama runner process has terminated: exit status 2\n")
	case providertest.FaultOverloaded:
		return said(http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded")
	default:
		return said(http.StatusBadRequest, "invalid message role")
	}
}
