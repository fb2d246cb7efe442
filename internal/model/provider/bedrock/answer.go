package bedrock

import (
	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the events of a stream. It is the Answer
// of a [wire.Request].
type answer struct {
	wire.Blocks
	stop  string // stopReason, once it arrived
	ended bool
	usage chela.TokenUsage
}

// Add applies an event, or a whole answer, which has no type. Events of unknown types
// are ignored.
func (a *answer) Add(event wire.Value, emit wire.EmitFunc) {
	index := event.Member("contentBlockIndex").Int()
	switch event.Member(eventType).Text() {
	case "contentBlockStart":
		if use := event.Member("start").Member("toolUse"); use.IsObject() {
			call(a.Begin(index), use, emit)
		}
	case "contentBlockDelta":
		b := a.At(index)
		if b == nil { // only calls have a start event
			b = a.Begin(index)
		}
		take(b, event.Member("delta"), emit)
	case "messageStop":
		a.stop = event.Member("stopReason").Text()
	case "metadata":
		a.usage = usage(event.Member("usage"))
		a.ended = a.stop != ""
	case "":
		a.stop, a.usage = event.Member("stopReason").Text(), usage(event.Member("usage"))
		for item := range event.Member("output").Member("message").Member("content").Items() {
			take(a.Begin(0), item, emit)
		}
	}
}

// call applies the beginning of a call, or all of it.
func call(b *wire.Block, use wire.Value, emit wire.EmitFunc) {
	b.Call, b.ID, b.Name, b.Input = true, use.Member("toolUseId").Text(), use.Member("name").Text(), use.Member("input").Text()
	emit(chela.Chunk{Unseen: len(b.Name)})
}

// take applies a block, or a piece of it. The thinking of a whole block is one level
// down.
func take(b *wire.Block, v wire.Value, emit wire.EmitFunc) {
	for name, member := range v.Members() {
		switch {
		case b.Call:
			b.Take(&b.Args, member.Member("input").Text(), emit)
		case name == "toolUse" && member.Member("name") != nil:
			call(b, member, emit)
		case name == "text":
			b.Take(&b.Text, member.Text(), emit)
		case name == "reasoningContent":
			if whole := member.Member("reasoningText"); whole != nil {
				member = whole
			}
			b.Take(&b.Thinking, member.Member("text").Text(), emit)
			b.Take(&b.Signature, member.Member("signature").Text(), emit)
			b.Take(&b.Redacted, member.Member("redactedContent").Text(), emit)
		}
	}
}

// usage reads the token counts. inputTokens excludes tokens read from or
// written to the cache.
func usage(v wire.Value) chela.TokenUsage {
	return chela.TokenUsage{
		Input: v.Count("inputTokens"), Output: v.Count("outputTokens"),
		CacheRead: v.Count("cacheReadInputTokens"), CacheWrite: v.Count("cacheWriteInputTokens"),
	}
}

// Progress returns how much has arrived. An answer is complete once the stop reason
// arrived; the usage follows in one more event.
func (a *answer) Progress() wire.Progress { return wire.ProgressOf(a.stop != "", a.ended) }

// Finish returns the finish of the answer.
func (a *answer) Finish(wire.EmitFunc) (*chela.Finish, error) {
	return a.Blocks.Finish(&chela.Finish{Usage: a.usage}, kind, stops[a.stop]), nil
}

// stops maps stopReason, unless it follows from the calls; see
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
var stops = map[string]chela.StopReason{
	"max_tokens": chela.StopLength, "model_context_window_exceeded": chela.StopLength,
	"guardrail_intervened": chela.StopRefusal, "content_filtered": chela.StopRefusal, "refusal": chela.StopRefusal,
}
