package providertest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
)

// OpenAI starts a server that speaks Chat Completions below /v1 and does what
// c tells. It was written from
// https://platform.openai.com/docs/api-reference/chat and refuses what that
// refuses, and what widespread compatible servers refuse (arguments of past
// calls that are not JSON).
func OpenAI(t *testing.T, c Case) *httptest.Server {
	t.Helper()
	return newServer(t, c, wire{
		path:       "/v1/chat/completions",
		read:       readOpenAI,
		events:     openAIEvents,
		plain:      openAIPlain,
		refuse:     openAIRefuse,
		overloaded: openAIOverloaded(),
	})
}

func openAIEvents(a Answer) (stream, end []event) {
	delta := func(d object) { stream = append(stream, openAIChunk(d, nil)) }
	delta(object{"role": "assistant", "content": "", "refusal": nil})
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		delta(object{"reasoning_content": a.Thinking[:half]})
		delta(object{"reasoning_content": a.Thinking[half:]})
	}
	for _, piece := range a.Text {
		delta(object{"content": piece})
	}
	for i, c := range a.Calls {
		delta(object{"tool_calls": []object{{
			"index": i, "id": c.Ref, "type": "function",
			"function": object{"name": c.Tool, "arguments": ""},
		}}})
	}
	// The arguments of parallel calls come interleaved.
	const size = 5
	for from := 0; ; from += size {
		more := false
		for i, c := range a.Calls {
			if runes := []rune(c.Args); from < len(runes) {
				piece := string(runes[from:min(from+size, len(runes))])
				delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}})
				more = true
			}
		}
		if !more {
			break
		}
	}
	usage := object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000, "model": "test-model-2026",
		"choices": []object{}, "usage": openAIUsage(a.Usage),
	}
	return stream, []event{openAIChunk(object{}, openAIStop(a)), {data: usage}, {data: "[DONE]"}}
}

func openAIChunk(delta object, finish any) event {
	return event{data: object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000, "model": "test-model-2026",
		"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}},
		"usage":   nil,
	}}
}

func openAIStop(a Answer) string {
	switch stopOf(a) {
	case chela.StopCalls:
		return "tool_calls"
	case chela.StopLength:
		return "length"
	case chela.StopRefusal:
		return "content_filter"
	default:
		return "stop"
	}
}

func openAIUsage(u chela.TokenUsage) object {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning, "audio_tokens": 0},
	}
}

func openAIPlain(a Answer) any {
	message := object{"role": "assistant", "content": strings.Join(a.Text, ""), "refusal": nil}
	if a.Thinking != "" {
		message["reasoning_content"] = a.Thinking
	}
	var calls []object
	for _, c := range a.Calls {
		calls = append(calls, object{"id": c.Ref, "type": "function", "function": object{"name": c.Tool, "arguments": c.Args}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1760000000, "model": "test-model-2026",
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": openAIStop(a)}},
		"usage":   openAIUsage(a.Usage),
	}
}

func openAIRefuse(f Fault) (int, any) {
	fail := func(status int, kind, code, message string) (int, any) {
		return status, object{"error": object{"message": message, "type": kind, "param": nil, "code": code}}
	}
	switch f {
	case FaultRate:
		return fail(429, "requests", "rate_limit_exceeded", "Rate limit reached for test-model in organization org-1 on requests per min (RPM): Limit 3, Used 3.")
	case FaultQuota:
		return fail(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
	case FaultKey:
		return fail(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: "+Key+". You can find your API key at https://platform.openai.com/account/api-keys.")
	case FaultOverflow:
		return fail(400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.")
	case FaultModel:
		return fail(404, "invalid_request_error", "model_not_found", "The model `test-model` does not exist or you do not have access to it.")
	case FaultServer:
		return fail(500, "server_error", "", "The server had an error while processing your request.\nSorry about that!")
	case FaultOverloaded:
		return fail(503, "service_unavailable_error", "", "The engine is currently overloaded, please try again later.")
	default:
		return fail(400, "invalid_request_error", "", "Invalid value for 'messages'.")
	}
}

func openAIOverloaded() event {
	return event{data: object{"error": object{
		"message": "The server is currently overloaded with other requests.", "type": "server_error", "param": nil, "code": nil,
	}}}
}
