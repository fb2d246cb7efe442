// Package geminitest is a server that speaks the Gemini API and refuses what
// the real one refuses.
package geminitest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

type object = providertest.Object

// Serve starts a server that speaks the Gemini API below /v1beta and does what c
// tells. It was written from https://ai.google.dev/api/generate-content and the
// guides on function calling, thinking and thought signatures beside it.
// Stricter than the real one it refuses schemas with keywords that the real one
// ignores.
func Serve(t *testing.T, c providertest.Case) *httptest.Server {
	t.Helper()
	return providertest.Serve(t, c, providertest.Protocol{
		Path:       "/v1beta/models/{model}",
		Read:       read,
		Events:     events,
		Plain:      plain,
		Refuse:     refuse,
		Embed:      embed,
		Embeds:     ":batchEmbedContents",
		Overloaded: providertest.Event{Data: failure(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")},
	})
}

// Sign returns the signature that the server puts under a part, and wants to
// see when the part comes back: a thought, the text, or the name of a tool.
func Sign(part string) string {
	sum := sha256.Sum256([]byte("signed " + part))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func events(a providertest.Answer) (stream, end []providertest.Event) {
	part := func(p object) {
		stream = append(stream, providertest.Event{Data: response(a, []object{p}, "")})
	}
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		part(object{"text": a.Thinking[:half], "thought": true})
		part(object{"text": a.Thinking[half:], "thought": true})
	}
	for _, piece := range a.Text {
		part(object{"text": piece})
	}
	for i, c := range a.Calls {
		part(call(c, i))
	}
	last := object{"text": ""}
	if len(a.Text) > 0 && len(a.Calls) == 0 {
		last["thoughtSignature"] = Sign(strings.Join(a.Text, ""))
	}
	return stream, []providertest.Event{{Data: response(a, []object{last}, stop(a))}}
}

func plain(a providertest.Answer) any {
	var parts []object
	if a.Thinking != "" {
		parts = append(parts, object{"text": a.Thinking, "thought": true})
	}
	if text := strings.Join(a.Text, ""); text != "" {
		p := object{"text": text}
		if len(a.Calls) == 0 {
			p["thoughtSignature"] = Sign(text)
		}
		parts = append(parts, p)
	}
	for i, c := range a.Calls {
		parts = append(parts, call(c, i))
	}
	return response(a, parts, stop(a))
}

// call returns a part that asks for a call. Of the calls of a step the first one
// is signed.
func call(c providertest.Call, place int) object {
	f := object{"id": c.Ref, "name": c.Tool}
	if c.Args != "" {
		f["args"] = json.RawMessage(c.Args)
	}
	part := object{"functionCall": f}
	if place == 0 {
		part["thoughtSignature"] = Sign(c.Tool)
	}
	return part
}

func response(a providertest.Answer, parts []object, reason string) object {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	u := a.Usage
	counts := object{
		"promptTokenCount":     u.Input + u.CacheRead,
		"candidatesTokenCount": 1,
		"totalTokenCount":      u.Input + u.CacheRead + 1,
		"promptTokensDetails":  []object{{"modality": "TEXT", "tokenCount": u.Input + u.CacheRead}},
	}
	if reason != "" {
		candidate["finishReason"] = reason
		counts["candidatesTokenCount"] = u.Output - u.Reasoning
		counts["thoughtsTokenCount"] = u.Reasoning
		counts["cachedContentTokenCount"] = u.CacheRead
		counts["totalTokenCount"] = u.Input + u.CacheRead + u.Output
	}
	if reason == "SAFETY" {
		candidate["safetyRatings"] = []object{{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true}}
	}
	return object{
		"candidates": []object{candidate}, "usageMetadata": counts,
		"modelVersion": "test-model-2026", "responseId": "r1",
	}
}

func stop(a providertest.Answer) string {
	switch a.Reason() {
	case chela.StopLength:
		return "MAX_TOKENS"
	case chela.StopRefusal:
		return "SAFETY"
	default:
		return "STOP"
	}
}

func failure(code int, status, message string, details ...object) object {
	e := object{"code": code, "message": message, "status": status}
	if len(details) > 0 {
		e["details"] = details
	}
	return object{"error": e}
}

// Both limits are told in the same words.
const exceeded = "You exceeded your current quota, please check your plan and billing details. " +
	"For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."

func quota(id string) object {
	return object{
		"@type": "type.googleapis.com/google.rpc.QuotaFailure",
		"violations": []object{{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": id, "quotaValue": "10",
		}},
	}
}

func refuse(f providertest.Fault) (int, any) {
	fail := func(code int, status, message string, details ...object) (int, any) {
		return code, failure(code, status, message, details...)
	}
	switch f {
	case providertest.FaultRate:
		return fail(429, "RESOURCE_EXHAUSTED", exceeded, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"))
	case providertest.FaultQuota:
		return fail(429, "RESOURCE_EXHAUSTED", exceeded, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
			object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"})
	case providertest.FaultKey:
		return fail(400, "INVALID_ARGUMENT", "API key not valid: "+providertest.Key+". Please pass a valid API key.",
			object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
	case providertest.FaultOverflow:
		return fail(400, "INVALID_ARGUMENT", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).")
	case providertest.FaultModel:
		return fail(404, "NOT_FOUND", "models/test-model is not found for API version v1beta, or is not supported for generateContent.")
	case providertest.FaultServer:
		return fail(500, "INTERNAL", "An internal error has occurred.\nPlease retry or report.")
	case providertest.FaultOverloaded:
		return fail(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
	default:
		return fail(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
	}
}
