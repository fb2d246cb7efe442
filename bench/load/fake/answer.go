package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// An answer is made but for the mark.
type answer struct {
	before, after []byte   // the mark in its first piece, or in all of it
	more          [][]byte // the pieces of a stream that follow
}

// hole is where the mark goes in the text that an answer is made from.
const hole = "\x00"

// newAnswer cuts the first piece at the hole.
func newAnswer(first string, more ...string) answer {
	before, after, _ := bytes.Cut([]byte(first), []byte(hole))
	a := answer{before: before, after: after}
	for _, piece := range more {
		a.more = append(a.more, []byte(piece))
	}
	return a
}

// fill returns the first piece with the mark in it.
func (a answer) fill(name []byte) []byte { return slices.Concat(a.before, name, a.after) }

// pieces returns all that is sent in a stream.
func (a answer) pieces(name []byte, usage bool) [][]byte {
	pieces := append([][]byte{a.fill(name)}, a.more...)
	if usage {
		pieces = append(pieces, []byte(event(`[],"usage":`+used)))
	}
	return append(pieces, []byte("data: [DONE]\n\n"))
}

const used = `{"prompt_tokens":20,"completion_tokens":16,"total_tokens":36}`

// whole is an answer that is not streamed.
func whole(message, finish string) answer {
	return newAnswer(fmt.Sprintf(`{"id":"chatcmpl-load","object":"chat.completion","created":0,"model":%q,`+
		`"choices":[{"index":0,"message":{"role":"assistant",%s},"finish_reason":%q}],"usage":%s}`, Model, message, finish, used))
}

// event is one event of a stream; choices begins with the list of them.
func event(choices string) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":0,"model":%q,"choices":%s}`+
		"\n\n", Model, choices)
}

func delta(of string) string { return event(`[{"index":0,"delta":{` + of + `},"finish_reason":null}]`) }

func finish(reason string) string {
	return event(fmt.Sprintf(`[{"index":0,"delta":{},"finish_reason":%q}]`, reason))
}

func plainText() answer { return whole(`"content":"`+hole+words+`"`, "stop") }

func plainCall(cfg Config) answer {
	return whole(`"content":null,"tool_calls":[{`+call(cfg)+`}]`, "tool_calls")
}

// call is the id, the name and the arguments of the call.
func call(cfg Config) string {
	return fmt.Sprintf(`"id":"call_%s","type":"function","function":{"name":%s,"arguments":%s}`,
		hole, quoted(cfg.Tool), quoted(cfg.Arguments))
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // every string can be JSON
	return string(raw)
}

func streamText(cfg Config) answer {
	var more []string
	for range cfg.Chunks - 1 {
		more = append(more, delta(`"content":"`+words+`"`))
	}
	return newAnswer(delta(`"role":"assistant","content":"`+hole+words+`"`), append(more, finish("stop"))...)
}

func streamCall(cfg Config) answer {
	return newAnswer(delta(`"role":"assistant","content":null,"tool_calls":[{"index":0,`+call(cfg)+`}]`), finish("tool_calls"))
}
