// Package bedrocktest is a server that speaks the Converse protocol of Amazon
// Bedrock, in frames as Amazon's own encoder writes them, and refuses what the
// real one refuses. It was written from
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html.
package bedrocktest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"chela"
	"chela/internal/model/provider/providertest"
)

// The keys that the server accepts beside a bearer token, and its region.
const (
	KeyID        = "AKIAIOSFODNN7EXAMPLE"
	SessionToken = "session-token-0123456789"
	Region       = "us-east-1"
)

type object = providertest.Object

// New starts a server that does what c tells. Requests are signed with KeyID,
// [providertest.Key] and SessionToken, or bear that key as a token. It is closed
// when the test ends.
func New(t *testing.T, c providertest.Case) *httptest.Server {
	t.Helper()
	return providertest.Serve(t, c, providertest.Protocol{
		Path: "/model/{model}/{operation}", Read: read, Events: events, Plain: plain, Refuse: refuse, Mark: label,
		Type: "application/vnd.amazon.eventstream", Frame: Frame,
		Overloaded: providertest.Event{Name: "serviceUnavailableException", Data: object{"message": "Bedrock is unable to process your request."}},
	})
}

// Frame returns the bytes of an event. One whose name ends with "Exception"
// ends the stream.
func Frame(e providertest.Event) []byte {
	var m eventstream.Message
	kind, name := "event", ":event-type"
	if strings.HasSuffix(e.Name, "Exception") {
		kind, name = "exception", ":exception-type"
	}
	m.Headers.Set(name, eventstream.StringValue(e.Name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Payload = e.Bytes()
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		return []byte(err.Error()) // which no reader takes for a frame
	}
	return b.Bytes()
}

// Sign returns the signature that the server puts under a block of thinking and
// wants to see when the block comes back.
func Sign(thinking string) string { return "sig-" + thinking }

func events(a providertest.Answer) (stream, end []providertest.Event) {
	send := func(name string, data object) {
		data["p"] = "abcdefgh" // the real one pads its events
		stream = append(stream, providertest.Event{Name: name, Data: data})
	}
	index := 0
	block := func(deltas ...object) {
		for _, d := range deltas {
			send("contentBlockDelta", object{"contentBlockIndex": index, "delta": d})
		}
		send("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	send("messageStart", object{"role": "assistant"})
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		block(object{"reasoningContent": object{"text": a.Thinking[:half]}}, object{"reasoningContent": object{"text": a.Thinking[half:]}},
			object{"reasoningContent": object{"signature": Sign(a.Thinking)}})
	}
	if len(a.Text) > 0 {
		var deltas []object
		for _, piece := range a.Text {
			deltas = append(deltas, object{"text": piece})
		}
		block(deltas...)
	}
	for _, c := range a.Calls {
		send("contentBlockStart", object{"contentBlockIndex": index, "start": object{"toolUse": object{"toolUseId": c.Ref, "name": c.Tool}}})
		half := len(c.Args) / 2
		for !utf8.RuneStart((c.Args + "x")[half]) {
			half--
		}
		block(object{"toolUse": object{"input": c.Args[:half]}}, object{"toolUse": object{"input": c.Args[half:]}})
	}
	return stream, []providertest.Event{
		{Name: "messageStop", Data: object{"stopReason": stop(a)}},
		{Name: "metadata", Data: object{"usage": usage(a.Usage), "metrics": object{"latencyMs": 275}}},
	}
}

func stop(a providertest.Answer) string {
	switch {
	case a.Stop == chela.StopLength:
		return "max_tokens"
	case a.Stop == chela.StopRefusal:
		return "content_filtered"
	case len(a.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func usage(u chela.TokenUsage) object {
	return object{
		"inputTokens": u.Input, "outputTokens": u.Output, "totalTokens": u.Total(),
		"cacheReadInputTokens": u.CacheRead, "cacheWriteInputTokens": u.CacheWrite,
	}
}

func plain(a providertest.Answer) any {
	content := []object{}
	if a.Thinking != "" {
		content = append(content, object{"reasoningContent": object{"reasoningText": object{"text": a.Thinking, "signature": Sign(a.Thinking)}}})
	}
	if text := strings.Join(a.Text, ""); text != "" {
		content = append(content, object{"text": text})
	}
	for _, c := range a.Calls {
		content = append(content, object{"toolUse": object{"toolUseId": c.Ref, "name": c.Tool, "input": json.RawMessage(c.Args)}})
	}
	return object{
		"output": object{"message": object{"role": "assistant", "content": content}}, "stopReason": stop(a),
		"usage": usage(a.Usage), "metrics": object{"latencyMs": 551},
	}
}

// A refusal is a status, what Amazon calls the error, and what it says.
type refusal struct {
	status         int
	label, message string
}

var refusals = map[providertest.Fault]refusal{
	providertest.FaultRate:       {http.StatusTooManyRequests, "ThrottlingException", "Too many requests, please wait before trying again."},
	providertest.FaultQuota:      {http.StatusBadRequest, "ServiceQuotaExceededException", "Your request exceeds the service quota for your account."},
	providertest.FaultKey:        {http.StatusForbidden, "UnrecognizedClientException", "The security token " + providertest.Key + " included in the request is invalid."},
	providertest.FaultOverflow:   {http.StatusBadRequest, "ValidationException", "Input is too long for requested model."},
	providertest.FaultModel:      {http.StatusBadRequest, "ValidationException", "The provided model identifier is invalid."},
	providertest.FaultRefused:    {http.StatusBadRequest, "ValidationException", "A conversation must start with a user message. Try again with a conversation that starts with a user message."},
	providertest.FaultServer:     {http.StatusInternalServerError, "InternalServerException", "The system encountered an unexpected error during processing."},
	providertest.FaultOverloaded: {http.StatusServiceUnavailable, "ServiceUnavailableException", "Bedrock is unable to process your request."},
}

func refuse(f providertest.Fault) (int, any) {
	return refusals[f].status, object{"message": refusals[f].message}
}

func label(h http.Header, f providertest.Fault) {
	h.Set("X-Amzn-Errortype", refusals[f].label+":http://internal.amazon.com/coral/com.amazon.bedrock/")
}
