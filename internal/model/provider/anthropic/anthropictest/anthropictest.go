// Package anthropictest is a server that speaks Messages, for tests.
package anthropictest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

// object is a JSON object.
type object = providertest.Object

// Serve starts a server that speaks Messages at /v1/messages and does what
// c tells. It was written from https://platform.claude.com/docs/en/api and
// refuses what that refuses; stricter than the real one it wants the roles to
// alternate.
func Serve(t *testing.T, c providertest.Case) *httptest.Server {
	t.Helper()
	return providertest.Serve(t, c, providertest.Protocol{
		Path:       "/v1/messages",
		Read:       func(r *http.Request, body []byte) (providertest.ReceivedRequest, error) { return read(r.Header, body) },
		Events:     events,
		Plain:      plain,
		Refuse:     refuse,
		Overloaded: overloaded(),
	})
}

// Sign returns the signature that the server puts under a block of thinking
// and wants to see when the block comes back.
func Sign(thinking string) string { return "sig" + providertest.Sum([]byte(thinking))[:16] }

func named(name string, data object) providertest.Event {
	data["type"] = name
	return providertest.Event{Name: name, Data: data}
}

func events(a providertest.Answer) (stream, end []providertest.Event) {
	send := func(name string, data object) { stream = append(stream, named(name, data)) }
	index := 0
	block := func(start object, deltas ...object) {
		send("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", object{"index": index, "delta": d})
		}
		send("content_block_stop", object{"index": index})
		index++
	}
	send("message_start", object{"message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model-2026", "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usageOf(a.Usage, 1),
	}})
	send("ping", object{})
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking_delta", "thinking": a.Thinking[:half]},
			object{"type": "thinking_delta", "thinking": a.Thinking[half:]},
			object{"type": "signature_delta", "signature": Sign(a.Thinking)})
	}
	if len(a.Text) > 0 {
		var deltas []object
		for _, piece := range a.Text {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	for _, c := range a.Calls {
		deltas := []object{{"type": "input_json_delta", "partial_json": ""}}
		for _, piece := range providertest.Pieces(c.Args, 5) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(object{"type": "tool_use", "id": c.Ref, "name": c.Tool, "input": object{}}, deltas...)
	}
	return stream, []providertest.Event{
		named("message_delta", object{
			"delta": object{"stop_reason": stop(a), "stop_sequence": nil},
			"usage": usageOf(a.Usage, a.Usage.Output),
		}),
		named("message_stop", object{}),
	}
}

func stop(a providertest.Answer) string {
	switch a.Reason() {
	case chela.StopCalls:
		return "tool_use"
	case chela.StopLength:
		return "max_tokens"
	case chela.StopRefusal:
		return "refusal"
	default:
		return "end_turn"
	}
}

func usageOf(u chela.TokenUsage, output int64) object {
	return object{
		"input_tokens": u.Input, "output_tokens": output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		"output_tokens_details": object{"thinking_tokens": u.Reasoning},
	}
}

func plain(a providertest.Answer) any {
	content := []object{}
	if a.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": a.Thinking, "signature": Sign(a.Thinking)})
	}
	if text := strings.Join(a.Text, ""); text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range a.Calls {
		content = append(content, object{"type": "tool_use", "id": c.Ref, "name": c.Tool, "input": json.RawMessage(c.Args)})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model-2026", "content": content,
		"stop_reason": stop(a), "stop_sequence": nil, "usage": usageOf(a.Usage, a.Usage.Output),
	}
}

func problem(kind, message string) object {
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"}
}

func refuse(f providertest.Fault) (int, any) {
	switch f {
	case providertest.FaultRate:
		return 429, problem("rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens per minute.")
	case providertest.FaultQuota:
		return 400, problem("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")
	case providertest.FaultKey:
		return 401, problem("authentication_error", "invalid x-api-key "+providertest.Key)
	case providertest.FaultOverflow:
		return 400, problem("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
	case providertest.FaultModel:
		return 404, problem("not_found_error", "model: test-model")
	case providertest.FaultServer:
		return 500, problem("api_error", "Internal server error\nplease retry")
	case providertest.FaultOverloaded:
		return 529, problem("overloaded_error", "Overloaded")
	default:
		return 400, problem("invalid_request_error", "messages: at least one message is required")
	}
}

func overloaded() providertest.Event {
	return providertest.Event{Name: "error", Data: problem("overloaded_error", "Overloaded")}
}
