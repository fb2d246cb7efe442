package gemini

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the pieces of a stream.
type answer struct {
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

// readStream reads a streamed answer. It is complete once the stop reason
// arrived; only usage follows.
func (p *Provider) readStream(ctx context.Context, res *http.Response, model string, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	a := answer{asked: model}
	var failed error
	for raw, err := range wire.Events(res.Body) {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if failed = err; err != nil {
			break
		}
		if len(raw) == 0 {
			continue
		}
		piece, err := p.guard.Event(raw)
		if err != nil {
			return nil, err
		}
		if !a.add(piece, emit) {
			return nil, nil
		}
	}
	if a.stop == "" {
		return nil, p.guard.Cut(ctx, failed)
	}
	return p.whole(&a)
}

// readPlain reads an answer that is not streamed.
func (p *Provider) readPlain(ctx context.Context, res *http.Response, model string, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	all, err := p.guard.ReadObject(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	if told, ok := p.guard.Told(all); ok {
		return nil, told
	}
	a := answer{asked: model}
	if !a.add(all, emit) {
		return nil, nil
	}
	if a.stop == "" {
		return nil, p.guard.Unreadable("sent an answer without a finish reason")
	}
	return p.whole(&a)
}

// add applies a piece and reports whether to continue. Usage counts are
// cumulative.
func (a *answer) add(piece wire.Value, emit func(chela.Chunk) bool) bool {
	wanted := true
	for name, v := range piece.Members() {
		switch name {
		case "modelVersion":
			a.model = cmp.Or(v.Text(), a.model)
		case "usageMetadata":
			a.usage = usage(v)
		case "promptFeedback":
			for name, member := range v.Members() {
				if name == "blockReason" {
					a.stop = cmp.Or(member.Text(), a.stop)
				}
			}
		case "candidates":
			for first := range v.Items() { // only one candidate was requested
				wanted = a.candidate(first, emit)
				break
			}
		}
	}
	return wanted
}

func (a *answer) candidate(v wire.Value, emit func(chela.Chunk) bool) bool {
	for name, member := range v.Members() {
		switch name {
		case "finishReason":
			if reason := member.Text(); reason != "FINISH_REASON_UNSPECIFIED" {
				a.stop = cmp.Or(reason, a.stop)
			}
		case "finishMessage":
			a.reason = member.Text()
		case "content":
			for name, parts := range member.Members() {
				if name != "parts" {
					continue
				}
				for part := range parts.Items() {
					if !emit(a.part(readPart(part))) {
						return false
					}
				}
			}
		}
	}
	return true
}

// A part is a piece of an answer: text, a thought, or a call.
type part struct {
	text      string
	thought   bool
	call      wire.Value
	signature string
}

func readPart(v wire.Value) part {
	var p part
	for name, member := range v.Members() {
		switch name {
		case "text":
			p.text = member.Text()
		case "thought":
			p.thought = string(member) == "true"
		case "functionCall":
			p.call = member
		case "thoughtSignature":
			p.signature = member.Text()
		}
	}
	return p
}

// part applies a part and returns the chunk to show, or else the number of
// bytes received. A signature without content belongs to the preceding text.
func (a *answer) part(p part) chela.Chunk {
	switch {
	case p.call.IsObject():
		a.sign(placeOf(len(a.calls)), p.signature)
		made := readCall(p.call)
		a.calls = append(a.calls, made)
		return chela.Chunk{Unseen: made.Written() + len(p.signature)}
	case p.thought:
		a.think(p)
	default:
		a.signed = cmp.Or(p.signature, a.signed)
		a.text.WriteString(p.text)
	}
	switch {
	case p.text == "":
		return chela.Chunk{Unseen: len(p.signature)}
	case p.thought:
		return chela.Chunk{Thinking: p.text}
	default:
		return chela.Chunk{Text: p.text}
	}
}

// think appends to the last thought, or begins a new one after a signed
// thought.
func (a *answer) think(p part) {
	a.open.WriteString(p.text)
	if p.signature != "" {
		a.closeThought(a.mark(placeThought, p.signature))
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

func readCall(v wire.Value) chela.CallSpec {
	var id, name, args string
	for key, member := range v.Members() {
		switch key {
		case "id":
			id = member.Text()
		case "name":
			name = member.Text()
		case "args":
			args = member.Text()
		}
	}
	return wire.Call(id, name, args)
}

// usage reads the token counts. promptTokenCount includes cached tokens;
// candidatesTokenCount excludes thoughts.
func usage(v wire.Value) chela.TokenUsage {
	var u chela.TokenUsage
	for name, member := range v.Members() {
		switch name {
		case "promptTokenCount", "toolUsePromptTokenCount":
			u.Input += max(member.Int(), 0)
		case "candidatesTokenCount":
			u.Output += max(member.Int(), 0)
		case "thoughtsTokenCount":
			u.Reasoning = max(member.Int(), 0)
		case "cachedContentTokenCount":
			u.CacheRead = max(member.Int(), 0)
		}
	}
	u.Input = max(u.Input-u.CacheRead, 0)
	u.Output += u.Reasoning
	return u
}

// whole returns the finish of a complete answer.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	switch a.stop {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		// The server could not parse the model's call and left it out. A retry
		// usually succeeds.
		return nil, p.guard.Unreadable("the model made a call that cannot be read: " + cmp.Or(a.reason, a.stop))
	}
	a.closeThought("")
	a.sign(placeText, a.signed)
	return &chela.Finish{
		Text: a.text.String(), Thinking: a.marks, Calls: wire.Calls(a.calls),
		Stop: stop(a.stop, len(a.calls) > 0), Model: a.model, Usage: a.usage,
	}, nil
}

// stop maps finishReason and blockReason; see
// https://ai.google.dev/api/generate-content#FinishReason. CONTINUATION is the
// limit of one request, after which the model would continue if asked.
func stop(reason string, calls bool) chela.StopReason {
	switch {
	case reason == "MAX_TOKENS", reason == "CONTINUATION":
		return chela.StopLength
	case reason == "SAFETY", reason == "RECITATION", reason == "LANGUAGE", reason == "BLOCKLIST",
		reason == "PROHIBITED_CONTENT", reason == "SPII", reason == "OTHER",
		reason == "MODEL_ARMOR", reason == "JAILBREAK", reason == "BLOCKED_REASON_UNSPECIFIED",
		strings.HasPrefix(reason, "IMAGE_"):
		return chela.StopRefusal
	case calls:
		return chela.StopCalls
	default:
		return chela.StopEnd
	}
}
