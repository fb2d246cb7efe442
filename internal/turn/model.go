package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/control"
	"chela/internal/cue"
	"chela/internal/prompt"
	"chela/internal/turn/machine"
)

// callModel performs one step of the model. What comes of it is an answer, or
// what had arrived when somebody stopped the turn, or a failure.
func (n *run) callModel(ctx context.Context, a machine.Action) error {
	if n.keep {
		if err := n.flush(ctx, "turn.step"); err != nil {
			return err
		}
	}
	if a.Note != "" {
		n.addEntry(chela.EntryNote, chela.Body{Text: a.Note, Note: a.About, Hidden: true})
	}
	frame := n.frame()
	if a.NoTools {
		frame = frame.Without()
	}
	counted := n.Prompt.Budget(frame).Frame + n.state.Conversation.Tokens
	if n.state.Flush.On {
		n.progress("writing notes")
	} else {
		n.progress("thinking")
	}
	finish, partial, err := n.stream(ctx, n.agent.Provider, n.request(frame), true)
	switch {
	case err == nil:
		n.answer(ctx, finish, prompt.Ratio(finish.Usage, counted))
	case errors.Is(err, control.ErrParked):
	case ctx.Err() == nil && isOfStore(err):
		return err
	case ctx.Err() == nil:
		n.Log.Warn("model call ended with an error", "turn", n.state.Turn.ID, "model", n.state.Turn.Model, "error", err)
		if n.failure = machine.FailureOf(err); n.failure.Limit == chela.LimitPrompt {
			n.failure, n.refused = nil, n.failure // there may be a way to make room
		}
	case cutOff(ctx) != nil:
		return cutOff(ctx)
	case partial != "":
		n.addEntry(chela.EntryAssistant, n.hidden(chela.Body{Text: n.transformed(ctx, partial), Model: n.state.Turn.Model, Interrupted: true}))
	}
	return nil
}

// isOfStore reports whether the model was not asked as the store does not work at
// the moment, or as somebody else runs the turn. Another run may ask it.
func isOfStore(err error) bool {
	return errors.Is(err, chela.ErrLater) || chela.KindOf(err) == chela.Conflict
}

// frame returns what the prompt has beside the conversation.
func (n *run) frame() prompt.Frame {
	if n.framed == nil || !slices.EqualFunc(n.offers, n.state.Offers, sameSpec) {
		framed := n.agent.Frame.With(n.state.Offers)
		n.framed, n.offers = &framed, n.state.Offers
	}
	return *n.framed
}

func (n *run) request(frame prompt.Frame) *chela.Request {
	return &chela.Request{
		Model: n.agent.Model, System: frame.System, MaxTokens: n.state.Turn.Overrides.Answer, Messages: n.state.Conversation.Messages,
		Tools: frame.Tools, Thinking: n.agent.Thinking, Session: n.state.Turn.Session, Load: n.Load,
		Payer: n.payer("turn"), Tokens: n.Prompt.Budget(frame).Used(n.state.Conversation), Again: n.again,
	}
}

// stream asks a provider and announces what arrives, if that is to be told. On
// error it returns the text that had arrived. A run that is parked meanwhile gets
// control.ErrParked.
func (n *run) stream(ctx context.Context, p chela.Provider, req *chela.Request, tell bool) (finish *chela.Finish, partial string, err error) {
	ctx, asked := n.control.Asking(ctx)
	defer asked()
	n.again = false // the next one is another
	var text strings.Builder
	shown, quiet := 0, !tell || n.transforms()
	show := func() { // an answer that is for nobody is kept back from its first character
		if !quiet && shown < text.Len() {
			n.delta(chela.EventTextDelta, text.String()[shown:])
			shown = text.Len()
		}
	}
	for chunk, err := range p.Stream(ctx, req) {
		switch {
		case err != nil && errors.Is(context.Cause(ctx), control.ErrParked):
			return nil, "", control.ErrParked
		case err != nil:
			return nil, text.String(), err
		case chunk.Finish != nil:
			if len(chunk.Finish.Calls) > 0 || !cue.Silent(text.String()) {
				show()
			}
			return chunk.Finish, "", nil
		case chunk.Anew:
			if !quiet {
				n.delta(chela.EventTextReset, "")
			}
			text.Reset()
			shown = 0
		case chunk.Text != "":
			text.WriteString(chunk.Text)
			if shown > 0 || !cue.MaySilence(text.String()) {
				show()
			}
		case chunk.Thinking != "" && tell:
			n.delta(chela.EventThinkingDelta, chunk.Thinking)
		}
	}
	return nil, text.String(), &chela.ProviderError{
		Provider: n.state.Turn.Model, Kind: chela.Unavailable, Cut: true, Msg: "the stream ended without an end",
	}
}

// delta announces what arrives, unless it is about memory.
func (n *run) delta(kind chela.EventKind, text string) {
	if !n.state.Flush.On {
		n.emit(chela.Event{Kind: kind, Text: text})
	}
}

// payer is who pays for the next request.
func (n *run) payer(purpose string) chela.Payer { return n.state.Turn.Payer(purpose) }

// usage is the row of the ledger of an answer; there is none of one that was known.
// Recorded answers have one, with the tokens they took then and no cost.
func (n *run) usage(p chela.Payer, f *chela.Finish) []chela.Usage {
	if f.Known {
		return nil
	}
	u := f.Charge.Settle(p, f.Usage, n.Now())
	if u.ID == "" {
		u.ID, u.Model = n.IDs.Usage(), cmp.Or(u.Model, n.state.Turn.Model)
	}
	return []chela.Usage{u}
}

// answer adds a whole answer, its calls and its ledger row.
func (n *run) answer(ctx context.Context, f *chela.Finish, ratio float64) {
	payer := n.payer("turn")
	turn := n.state.Turn
	turn.Steps++
	n.tried, n.refused = "", nil
	n.tellStandIn(f)
	n.tellCut(f)
	body := n.hidden(chela.Body{
		Text: n.transformed(ctx, f.Text), Thinking: f.Thinking, Calls: make([]chela.CallSpec, len(f.Calls)),
		Model: cmp.Or(f.Served, turn.Model), Stop: f.Stop, Usage: &f.Usage, Ratio: ratio,
	})
	if f.Known {
		body.Usage = nil
	}
	moves := make([]machine.CallMove, len(f.Calls))
	for i, spec := range f.Calls {
		spec.ID = n.IDs.Call()
		if spec.Ref == "" {
			spec.Ref = string(spec.ID)
		}
		body.Calls[i] = spec
		moves[i].Call = machine.Requested(turn, spec, turn.Steps, i)
		moves[i].Call.CreatedAt = n.Now()
	}
	if len(body.Calls) == 0 {
		body.Calls = nil
		body.Hidden = body.Hidden || cue.Silent(body.Text) // it is for nobody
	}
	n.add(machine.Change{Turn: &turn})
	n.addEntry(chela.EntryAssistant, body)
	n.add(machine.Change{Calls: moves, Usage: n.usage(payer, f)})
	for _, m := range moves {
		n.announce(chela.Event{Kind: chela.EventToolRequested, Call: m.Call.ID, Tool: m.Call.Tool, Text: string(m.Call.Args)})
	}
	n.keep = true
}

// tellStandIn tells people once in a turn that another model answers than the one
// that was chosen for it.
func (n *run) tellStandIn(f *chela.Finish) {
	if f.Since == "" || n.stoodIn || n.state.Answer.Model == f.Served {
		return
	}
	n.stoodIn = true
	n.emit(chela.Event{Kind: chela.EventNotice, Text: fmt.Sprintf("answered by %s, since %s is unavailable: %s", f.Served, n.state.Turn.Model, f.Since)})
}

// tellCut tells people that an answer is not whole, since it grew as long as an
// answer may be.
func (n *run) tellCut(f *chela.Finish) {
	if f.Stop != chela.StopLength || len(f.Calls) > 0 || f.Text == "" || n.state.Flush.On {
		return
	}
	at := "" // not every provider counts
	if f.Usage.Output > 0 {
		at = fmt.Sprintf(" at %d tokens", f.Usage.Output)
	}
	n.emit(chela.Event{Kind: chela.EventNotice, Text: "the answer was cut" + at + "; ask for the rest"})
}

// absorb takes the messages that wait into the turn. Calls that have not begun
// are answered first, as the model may want something else now.
func (n *run) absorb(ctx context.Context) error {
	n.control.Steered()
	waiting, err := n.journal.Steering(context.WithoutCancel(ctx)) // an answer may be in the buffer
	if err != nil {
		return err
	}
	waiting = slices.DeleteFunc(waiting, n.absorbed)
	if len(waiting) == 0 {
		return nil
	}
	for _, c := range n.state.Open() {
		n.settle(c, chela.CallSkipped, SkippedText)
	}
	for _, m := range waiting {
		m.State, m.Turn = chela.InboxTaken, n.state.Turn.ID
		n.addEntry(chela.EntryUser, machine.UserBody(m))
		n.add(machine.Change{Absorbed: []chela.Waiting{m}})
	}
	n.keep = true
	return nil
}

// absorbed reports whether a message is in the turn already, though the journal
// does not know it yet.
func (n *run) absorbed(m chela.Waiting) bool {
	return slices.ContainsFunc(n.buffer.Absorbed, func(have chela.Waiting) bool { return have.ID == m.ID })
}

// hidden returns what is said in a flush marked as that.
func (n *run) hidden(b chela.Body) chela.Body {
	if n.state.Flush.On {
		b.Hidden, b.Note = true, chela.NoteFlush
	}
	return b
}

// progress tells that a step begins, as in "[2/50] thinking".
func (n *run) progress(what string) {
	n.emit(chela.Event{
		Kind: chela.EventTurnProgress, Step: n.state.Turn.Steps + 1, Limit: n.Limits.Steps,
		Text:     fmt.Sprintf("[%d/%d] %s", min(n.state.Turn.Steps+1, n.Limits.Steps), n.Limits.Steps, what),
		Activity: activityOf(what),
	})
}

// activityOf is what a turn does whose progress is told so: it runs the tools
// that are named, if it is nothing else.
func activityOf(what string) chela.Activity {
	switch a := chela.Activity(what); a {
	case chela.ActivityThinking, chela.ActivityCompacting:
		return a
	default:
		return chela.ActivityTools
	}
}
