package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"chela"
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

// Requests draws requests that have a model and a message. Without these the
// SDK leaves the fields out, and every server refuses the request anyway.
func Requests() *rapid.Generator[*chela.Request] {
	levels := []chela.ThinkingLevel{
		"", chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	}
	schemas := []string{`{}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, "null", " {\n} ", `{"type":"object","properties":{"a":{"type":"string","description":"\"\u2028<é>"}},"required":["a"]}`, `{"b": 1.50, "a" : {"x": [ 1e400, "` + "\u2028" + ` \\" ]}}`}
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

// Decoded returns a JSON object, its numbers as they are written.
func Decoded(t *rapid.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}
