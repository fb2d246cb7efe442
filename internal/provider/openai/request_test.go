package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/provider/openaiapi"
)

// texts draws what is hard to write in JSON: escapes, control characters,
// line ends of other alphabets, halves of surrogates, and bytes that are no
// UTF-8, at any distance from each other.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " ", "\n", "\r\n", "\t", `"`, `\`, `\ud83d`, `{"a":"b\"c"}`, "</script>&", "\x00", "\x1f", "\x7f", "\b\f", "\u2028\u2029", "\ufeff",
			"é", "שלום", "日本語", "👩‍👧", "𝄞", "\xff", "\xc3", "\xe2\x80", "\xed\xa0\xbd", "\xf4\x90\x80\x80", "\uFFFD", "data: [DONE]\n\n",
		}),
		rapid.StringMatching(`[ -~]{0,40}`),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string { return strings.Join(pieces, "") })
}

func attachments() *rapid.Generator[[]chela.Attachment] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) chela.Attachment {
		return chela.Attachment{
			Name:      texts().Draw(t, "name"),
			MediaType: rapid.SampledFrom([]string{"image/png", "image/webp", "text/plain", "application/json", "application/pdf", "?"}).Draw(t, "type"),
			Size:      rapid.Int64Min(0).Draw(t, "size"),
		}
	}), 0, 2)
}

func messages() *rapid.Generator[[]chela.Message] {
	return rapid.Custom(func(t *rapid.T) []chela.Message {
		var all []chela.Message
		for step := range rapid.IntRange(0, 6).Draw(t, "steps") {
			all = append(all, chela.Message{Role: chela.RoleUser, Text: texts().Draw(t, "text"), Attachments: attachments().Draw(t, "attachments")})
			said := chela.Message{Role: chela.RoleAssistant, Text: texts().Draw(t, "said")}
			said.Thinking = []chela.Thinking{{Text: texts().Draw(t, "thought"), Signature: "s", Provider: "openai"}}
			var results []chela.Message
			for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
				ref := fmt.Sprintf("call_%d_%d", step, i)
				c := chela.CallSpec{ID: chela.CallID(ref), Ref: ref, Tool: texts().Draw(t, "tool")}
				switch rapid.IntRange(0, 3).Draw(t, "arguments") {
				case 0:
					c.Raw = texts().Draw(t, "raw")
				case 1:
					c.Args = json.RawMessage(texts().Draw(t, "args"))
				default:
					c.Args = json.RawMessage(` {"a": "\ud83d\u2028` + "\xff\u2028" + `", "b" : [1e3, null]}`)
				}
				said.Calls = append(said.Calls, c)
				results = append(results, chela.Message{
					Role: chela.RoleTool, Call: c.ID, Ref: ref, Tool: c.Tool, Text: texts().Draw(t, "result"), Attachments: attachments().Draw(t, "shown"),
				})
			}
			all = append(append(all, said), rapid.Permutation(results).Draw(t, "order")...)
		}
		return append(all, chela.Message{Role: chela.RoleUser, Text: "end"})
	})
}

// requests draws requests that have a model and a message. Without these the
// SDK leaves the fields out, and every server refuses the request anyway.
func requests() *rapid.Generator[*chela.Request] {
	levels := []chela.ThinkingLevel{
		"", chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	}
	schemas := []string{`{}`, "null", " {\n} ", `{"type":"object","properties":{"a":{"type":"string","description":"\"\u2028<é>"}},"required":["a"]}`, `{"b": 1.50, "a" : {"x": [ 1e400, "` + "\u2028" + ` \\" ]}}`}
	return rapid.Custom(func(t *rapid.T) *chela.Request {
		req := &chela.Request{
			Model:     "m" + texts().Draw(t, "model"),
			System:    texts().Draw(t, "system"),
			Messages:  messages().Draw(t, "messages"),
			Thinking:  rapid.SampledFrom(levels).Draw(t, "thinking"),
			MaxTokens: rapid.IntRange(-1, 1<<20).Draw(t, "max tokens"),
			Session:   chela.SessionKey(texts().Draw(t, "session")),
			Plain:     rapid.Bool().Draw(t, "plain"),
			Load:      func(_ context.Context, a chela.Attachment) ([]byte, error) { return []byte("of " + a.Name), nil },
		}
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			req.Tools = append(req.Tools, chela.ToolSpec{
				Name:        rapid.SampledFrom([]string{"a", "b", "c\"\xff\xff"}).Draw(t, "name"),
				Description: texts().Draw(t, "description"),
				Input:       json.RawMessage(rapid.SampledFrom(schemas).Draw(t, "schema")),
			})
		}
		return req
	})
}

// TestSameAsSDK compares requests with what the official SDK makes of them.
// One provider is asked all the time, as the tools it remembers must not show.
func TestSameAsSDK(t *testing.T) {
	t.Parallel()
	for _, base := range []string{openaiapi.DefaultBaseURL, "https://mine.openai.azure.com/openai/v1", local} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			wire := &canned{}
			p := reach(t, wire, base)
			rapid.Check(t, func(rt *rapid.T) {
				req := requests().Draw(rt, "request")
				wire.kind, wire.body = "text/event-stream", "data: [DONE]\n\n"
				if req.Plain {
					wire.kind, wire.body = "application/json", `{"choices":[{"message":{"content":"ok"}}]}`
				}
				if _, err := ask(t, p, req); err != nil {
					rt.Fatal(err)
				}
				want, got := decoded(rt, sdkBody(t, req, base != local)), decoded(rt, []byte(wire.sent))
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Errorf("(-SDK +sent)\n%s", diff)
				}
				if !utf8.ValidString(wire.sent) {
					rt.Errorf("%q is no UTF-8", wire.sent)
				}
			})
		})
	}
}

// decoded returns a JSON object, its numbers as they are written.
func decoded(t *rapid.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// TestSamePrefix shows that a step sends what the step before sent, and then
// more: prompt caches live on that.
func TestSamePrefix(t *testing.T) {
	t.Parallel()
	wire := events(`[DONE]`)
	p := reach(t, wire, local)
	rapid.Check(t, func(rt *rapid.T) {
		req := requests().Draw(rt, "request")
		req.Plain = false
		said := rapid.IntRange(0, len(req.Messages)).Filter(func(n int) bool {
			return n == len(req.Messages) || req.Messages[n].Role == chela.RoleUser
		}).Draw(rt, "said")
		sent := make([]string, 2)
		for i, n := range []int{said, len(req.Messages)} {
			part := *req
			part.Messages = req.Messages[:n]
			if _, err := ask(t, p, &part); err != nil {
				rt.Fatal(err)
			}
			sent[i] = strings.TrimSuffix(wire.sent, "]}")
		}
		if !strings.HasPrefix(sent[1], sent[0]) {
			rt.Errorf("sent %s\nthen %s", sent[0], sent[1])
		}
	})
}
