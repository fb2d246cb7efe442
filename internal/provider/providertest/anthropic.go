package providertest

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
)

// Anthropic starts a server that speaks Messages at /v1/messages and does what
// c tells. It was written from https://platform.claude.com/docs/en/api and
// refuses what that refuses; stricter than the real one it wants the roles to
// alternate.
func Anthropic(t *testing.T, c Case) *httptest.Server {
	t.Helper()
	return newServer(t, c, wire{
		path:       "/v1/messages",
		read:       readAnthropic,
		events:     anthropicEvents,
		plain:      anthropicPlain,
		refuse:     anthropicRefuse,
		overloaded: anthropicOverloaded(),
	})
}

// Sign returns the signature that the server puts under a block of thinking
// and wants to see when the block comes back.
func Sign(thinking string) string { return "sig" + sum([]byte(thinking))[:16] }

func anthropicEvent(name string, data object) event {
	data["type"] = name
	return event{name: name, data: data}
}

func anthropicEvents(a Answer) (stream, end []event) {
	send := func(name string, data object) { stream = append(stream, anthropicEvent(name, data)) }
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
		"stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(a.Usage, 1),
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
		for _, piece := range split(c.Args, 5) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(object{"type": "tool_use", "id": c.Ref, "name": c.Tool, "input": object{}}, deltas...)
	}
	return stream, []event{
		anthropicEvent("message_delta", object{
			"delta": object{"stop_reason": anthropicStop(a), "stop_sequence": nil},
			"usage": anthropicUsage(a.Usage, a.Usage.Output),
		}),
		anthropicEvent("message_stop", object{}),
	}
}

func anthropicStop(a Answer) string {
	switch stopOf(a) {
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

func anthropicUsage(u chela.TokenUsage, output int64) object {
	return object{
		"input_tokens": u.Input, "output_tokens": output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		"output_tokens_details": object{"thinking_tokens": u.Reasoning},
	}
}

func anthropicPlain(a Answer) any {
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
		"stop_reason": anthropicStop(a), "stop_sequence": nil, "usage": anthropicUsage(a.Usage, a.Usage.Output),
	}
}

func anthropicError(kind, message string) object {
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"}
}

func anthropicRefuse(f Fault) (int, any) {
	switch f {
	case FaultRate:
		return 429, anthropicError("rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens per minute.")
	case FaultQuota:
		return 400, anthropicError("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")
	case FaultKey:
		return 401, anthropicError("authentication_error", "invalid x-api-key "+Key)
	case FaultOverflow:
		return 400, anthropicError("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
	case FaultModel:
		return 404, anthropicError("not_found_error", "model: test-model")
	case FaultServer:
		return 500, anthropicError("api_error", "Internal server error\nplease retry")
	case FaultOverloaded:
		return 529, anthropicError("overloaded_error", "Overloaded")
	default:
		return 400, anthropicError("invalid_request_error", "messages: at least one message is required")
	}
}

func anthropicOverloaded() event {
	return event{name: "error", data: anthropicError("overloaded_error", "Overloaded")}
}
