package openaitest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"chela/internal/model/provider/providertest"
)

// A Program is a server of models for one machine.
type Program string

// The programs, each with the answers by which it is told apart.
const (
	LMStudio Program = "lmstudio" // https://lmstudio.ai/docs/developer/rest/endpoints
	VLLM     Program = "vllm"     // https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html
	LlamaCpp Program = "llamacpp" // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
)

// ServeProgram starts a server that speaks Chat Completions below /v1 as a program
// does, and lists its models. If key is set, which is [providertest.Key], requests
// without it are refused, as by vLLM with --api-key.
func ServeProgram(t *testing.T, c providertest.Case, program Program, key string, models ...string) *httptest.Server {
	t.Helper()
	return providertest.Serve(t, c, providertest.Protocol{
		Path: "/v1/chat/completions",
		Read: func(r *http.Request, body []byte) (providertest.ReceivedRequest, error) {
			header := r.Header.Clone()
			if key == "" { // it ignores one
				header.Set("Authorization", "Bearer "+providertest.Key)
			}
			return read(header, body, Quirks{})
		},
		Events:     func(a providertest.Answer) (stream, end []providertest.Event) { return events(a, Quirks{}) },
		Plain:      func(a providertest.Answer) any { return plain(a, Quirks{}) },
		Refuse:     refuse,
		Overloaded: overloaded(),
		Else: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			status, body := program.page(r.Method+" "+r.URL.Path, models)
			if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
				status, body = http.StatusUnauthorized, object{"error": "Unauthorized"}
			}
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(body) // who does not read it has gone
		}),
	})
}

// page returns what a program answers at other paths.
func (p Program) page(request string, models []string) (status int, body any) {
	switch p {
	case LMStudio:
		switch request {
		case "GET /v1/models":
			return http.StatusOK, list(models, object{"owned_by": "organization_owner"})
		case "GET /api/v0/models":
			return http.StatusOK, list(models, object{
				"type": "llm", "publisher": "lmstudio-community", "arch": "qwen3", "compatibility_type": "gguf",
				"quantization": "Q4_K_M", "state": "not-loaded", "max_context_length": 131_072,
			})
		}
		return http.StatusOK, object{"error": "Unexpected endpoint or method. (" + request + ")"}
	case VLLM:
		switch request {
		case "GET /v1/models":
			return http.StatusOK, list(models, object{"created": 1_779_000_000, "owned_by": "vllm", "parent": nil, "max_model_len": 40_960, "permission": []any{}})
		case "GET /version":
			return http.StatusOK, object{"version": "0.26.0"}
		}
		return http.StatusNotFound, object{"detail": "Not Found"}
	default:
		switch request {
		case "GET /v1/models":
			return http.StatusOK, list(models, object{
				"created": 1_779_000_000, "owned_by": "llamacpp",
				"meta": object{"vocab_type": 2, "n_vocab": 128_256, "n_ctx_train": 131_072, "n_embd": 4096, "n_params": 8_030_261_312, "size": 4_912_898_304},
			})
		case "GET /props":
			return http.StatusOK, object{
				"default_generation_settings": object{"id": 0, "n_ctx": 8192, "speculative": false, "is_processing": false},
				"total_slots":                 1, "model_path": "/models/model.gguf", "chat_template": "{{ messages }}", "build_info": "b7000-abcdef0",
			}
		}
		return http.StatusNotFound, object{"error": object{"code": 404, "message": "File Not Found", "type": "not_found_error"}}
	}
}

// list returns models as a list of OpenAI's API, each with further members.
func list(models []string, more object) object {
	items := []object{}
	for _, name := range models {
		item := object{"id": name, "object": "model"}
		for key, value := range more {
			item[key] = value
		}
		items = append(items, item)
	}
	return object{"object": "list", "data": items}
}
