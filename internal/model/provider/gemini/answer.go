package gemini

import (
	"cmp"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the pieces of a stream. It is the Answer
// of a [wire.Request].
type answer struct {
	guard  wire.Guard
	asked  string // requested model
	model  string // model that answered
	text   strings.Builder
	marks  []chela.Thinking // thoughts and signatures, in order
	open   strings.Builder  // text of an unfinished thought; see closeThought
	calls  []chela.CallSpec
	signed string // signature of the text, if any
	stop   string // finishReason, or the block reason of the prompt
	reason string // stop reason in words, if given
	usage  chela.TokenUsage
}

// Add applies an event, or a whole answer. Usage counts are cumulative.
func (a *answer) Add(piece wire.Value, emit wire.EmitFunc) {
	for name, v := range piece.Members() {
		switch name {
		case "modelVersion":
			a.model = cmp.Or(v.Text(), a.model)
		case "usageMetadata":
			a.usage = usage(v)
		case "promptFeedback":
			a.stop = cmp.Or(v.Member("blockReason").Text(), a.stop)
		case "candidates":
			for first := range v.Items() { // only one candidate was requested
				a.candidate(first, emit)
				break
			}
		}
	}
}

func (a *answer) candidate(v wire.Value, emit wire.EmitFunc) {
	for name, member := range v.Members() {
		switch name {
		case "finishReason":
			if reason := member.Text(); reason != "FINISH_REASON_UNSPECIFIED" {
				a.stop = cmp.Or(reason, a.stop)
			}
		case "finishMessage":
			a.reason = member.Text()
		case "content":
			for part := range member.Member("parts").Items() {
				emit(a.part(part))
			}
		}
	}
}

// part applies a part and returns the chunk to show, or else the number of
// bytes received. A signature without content belongs to the preceding text.
func (a *answer) part(v wire.Value) chela.Chunk {
	var text, signature string
	var call wire.Value
	thought := false
	for name, member := range v.Members() {
		switch name {
		case "text":
			text = member.Text()
		case "thought":
			thought = string(member) == "true"
		case "functionCall":
			call = member
		case "thoughtSignature":
			signature = member.Text()
		}
	}
	switch {
	case call.IsObject():
		a.sign(placeOf(len(a.calls)), signature)
		made := wire.Call(call.Member("id").Text(), call.Member("name").Text(), call.Member("args").Text())
		a.calls = append(a.calls, made)
		return chela.Chunk{Unseen: made.Written() + len(signature)}
	case thought: // it goes on the last one, unless that is signed
		a.open.WriteString(text)
		if signature != "" {
			a.closeThought(a.mark(placeThought, signature))
		}
	default:
		a.signed = cmp.Or(signature, a.signed)
		a.text.WriteString(text)
	}
	switch {
	case text == "":
		return chela.Chunk{Unseen: len(signature)}
	case thought:
		return chela.Chunk{Thinking: text}
	default:
		return chela.Chunk{Text: text}
	}
}

// closeThought stores the open thought, if there is one or a signature.
func (a *answer) closeThought(signature string) {
	if a.open.Len() > 0 || signature != "" {
		a.marks = append(a.marks, chela.Thinking{Text: a.open.String(), Signature: signature, Provider: kind})
		a.open.Reset()
	}
}

// sign stores the signature of a part other than a thought.
func (a *answer) sign(place, signature string) {
	if signature != "" {
		a.closeThought("")
		a.closeThought(a.mark(place, signature))
	}
}

func (a *answer) mark(place, signature string) string {
	return mark{model: a.asked, place: place, signature: signature}.String()
}

// usage reads the token counts. promptTokenCount includes cached tokens;
// candidatesTokenCount excludes thoughts.
func usage(v wire.Value) chela.TokenUsage {
	u := chela.TokenUsage{CacheRead: v.Count("cachedContentTokenCount"), Reasoning: v.Count("thoughtsTokenCount")}
	u.Input = max(v.Count("promptTokenCount")+v.Count("toolUsePromptTokenCount")-u.CacheRead, 0)
	u.Output = v.Count("candidatesTokenCount") + u.Reasoning
	return u
}

// Progress returns how much has arrived. An answer is complete once the stop reason
// arrived; only usage follows.
func (a *answer) Progress() wire.Progress { return wire.ProgressOf(a.stop != "", false) }

// Finish returns the finish of the answer.
func (a *answer) Finish(wire.EmitFunc) (*chela.Finish, error) {
	switch a.stop {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		// The server could not parse the model's call and left it out. A retry
		// usually succeeds.
		return nil, a.guard.Unreadable("the model made a call that cannot be read: " + cmp.Or(a.reason, a.stop))
	}
	a.closeThought("")
	a.sign(placeText, a.signed)
	f := &chela.Finish{Text: a.text.String(), Thinking: a.marks, Calls: a.calls, Model: a.model, Usage: a.usage}
	told := stops[a.stop]
	if strings.HasPrefix(a.stop, "IMAGE_") {
		told = chela.StopRefusal
	}
	return wire.Finish(f, told), nil
}

// stops maps finishReason and blockReason, unless they follow from the calls; see
// https://ai.google.dev/api/generate-content#FinishReason. CONTINUATION is the
// limit of one request, after which the model would continue if asked.
var stops = map[string]chela.StopReason{
	"MAX_TOKENS": chela.StopLength, "CONTINUATION": chela.StopLength,
	"SAFETY": chela.StopRefusal, "RECITATION": chela.StopRefusal, "LANGUAGE": chela.StopRefusal, "BLOCKLIST": chela.StopRefusal,
	"PROHIBITED_CONTENT": chela.StopRefusal, "SPII": chela.StopRefusal, "OTHER": chela.StopRefusal,
	"MODEL_ARMOR": chela.StopRefusal, "JAILBREAK": chela.StopRefusal, "BLOCKED_REASON_UNSPECIFIED": chela.StopRefusal,
}
