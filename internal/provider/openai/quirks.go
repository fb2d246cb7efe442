package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/provider/openaiapi"
	"chela/internal/provider/wire"
)

// quirks is where a server differs from OpenAI.
type quirks struct{ lacks, has []catalogue.Feature }

// knows reports whether a part of the protocol is understood.
func (q quirks) knows(f catalogue.Feature) bool { return !slices.Contains(q.lacks, f) }

// adds reports whether something beyond the protocol is understood.
func (q quirks) adds(f catalogue.Feature) bool { return slices.Contains(q.has, f) }

// effort returns the value of reasoning_effort for a level: the one next to it
// where the server does not know it, and nothing to leave it to the model.
func (q quirks) effort(level chela.ThinkingLevel) string {
	switch {
	case !q.knows(catalogue.FeatureReasoningEffort):
		return ""
	case level == chela.ThinkingOff && !q.knows(catalogue.FeatureEffortNone):
		return ""
	case level == chela.ThinkingMinimal && !q.knows(catalogue.FeatureEffortMinimal):
		level = chela.ThinkingLow
	case level == chela.ThinkingXHigh && !q.knows(catalogue.FeatureEffortXHigh):
		level = chela.ThinkingHigh
	}
	return openaiapi.Effort(level)
}

// whole returns a conversation that the server accepts.
func (q quirks) whole(messages []chela.Message) []chela.Message {
	messages = wire.Whole(messages, openaiapi.Fits)
	if !q.knows(catalogue.FeatureAnyCallID) {
		shorten(messages)
	}
	if !q.knows(catalogue.FeatureParallelCalls) {
		messages = oneByOne(messages)
	}
	return messages
}

// shorten gives calls ids of nine letters and digits. Each is made of the one
// that the call had, so that a step begins with the bytes of the step before.
func shorten(messages []chela.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Role == chela.RoleTool {
			m.Ref = short(m.Ref)
		}
		for j := range m.Calls { // which Whole made
			m.Calls[j].Ref = short(m.Calls[j].Ref)
		}
	}
}

func short(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return hex.EncodeToString(sum[:])[:9]
}

// oneByOne returns a conversation in which each answer has one call, and its
// result comes next. The results of a step stand behind it, in their order.
func oneByOne(messages []chela.Message) []chela.Message {
	out := make([]chela.Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.Calls) < 2 {
			out = append(out, m)
			continue
		}
		for j, c := range m.Calls {
			one := m
			one.Calls = []chela.CallSpec{c}
			if j > 0 {
				one.Text, one.Thinking = "", nil
			}
			out = append(out, one, messages[i+1+j])
		}
		i += len(m.Calls)
	}
	return out
}

// visible replaces images by a line that says that there is one, where the
// server knows none.
func (q quirks) visible(parts []wire.Part) []wire.Part {
	if q.knows(catalogue.FeatureImages) {
		return parts
	}
	for i, part := range parts {
		if part.Image != nil {
			parts[i] = wire.Part{Text: fmt.Sprintf("<attachment type=%q bytes=\"%d\"/> (this model sees no images)", part.MediaType, len(part.Image))}
		}
	}
	return parts
}

// appendReasoning appends what a past answer reasoned, in the form in which the
// server wants to see it again. One that wants it as reasoning_content refuses
// calls without it, even if the model did not think or another one did.
func (q quirks) appendReasoning(b []byte, m chela.Message) []byte {
	for _, f := range []catalogue.Feature{catalogue.FeatureReasoningContent, catalogue.FeatureReasoning} {
		if q.adds(f) && len(m.Calls) > 0 {
			b = append(b, ',')
			b = wire.AppendString(b, f)
			b = wire.AppendString(append(b, ':'), thought(m))
		}
	}
	if q.adds(catalogue.FeatureReasoningDetails) {
		for _, t := range m.Thinking {
			if t.Provider == kind && strings.HasPrefix(t.Signature, "[") && json.Valid([]byte(t.Signature)) {
				b = append(b, `,"reasoning_details":`...)
				return append(b, t.Signature...)
			}
		}
	}
	return b
}

// thought returns what a past answer reasoned, as far as this protocol told.
func thought(m chela.Message) string {
	var all strings.Builder
	for _, t := range m.Thinking {
		if t.Provider == kind {
			all.WriteString(t.Text)
		}
	}
	return all.String()
}
