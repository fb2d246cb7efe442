package replay

import (
	"slices"
	"strings"

	"chela"
	"chela/internal/engine/turn"
	"chela/internal/engine/turn/machine"
)

// before inspects the remaining record and triggers the outside event that
// comes next, if any.
func (p *player) before(s machine.State) {
	p.seek(s)
	p.step = s.Turn.Steps
	if len(p.running(s)) == 0 {
		p.gone = ""
	}
	if entered := p.entered(); len(entered) > 0 && !p.waitsFirst(s) {
		p.entering = entered
		p.control.Steer()
		return
	}
	if p.endedFromOutside() && p.over(s) {
		p.end()
	}
}

// seek moves to the position of a state in the record.
func (p *player) seek(s machine.State) {
	p.at = min(int(s.Thread.Seq-p.rec.first()+1), len(p.rec.Entries))
}

// rest returns the remaining part of the record.
func (p *player) rest() []chela.Entry { return p.rec.Entries[p.at:] }

// entered returns the messages that enter the turn next: the messages of the
// following user entries, after the results of calls skipped for them.
func (p *player) entered() (messages []chela.InboxMessage) {
	rest := p.rest()
	skipped := 0
	for skipped < len(rest) && p.neverRan(rest[skipped]) {
		skipped++
	}
	superseded := slices.ContainsFunc(rest[:skipped], func(e chela.Entry) bool { return e.Text() == turn.SkippedText })
	if skipped > 0 && !superseded {
		return nil
	}
	for _, e := range rest[skipped:] {
		if e.Kind() != chela.EntryUser {
			break
		}
		messages = append(messages, p.message(e))
	}
	return messages
}

// message reconstructs the message of an entry with its provenance.
func (p *player) message(e chela.Entry) chela.InboxMessage {
	m := message(e)
	m.Session, m.Origin.Channel = p.rec.Turn.Session, p.rec.Turn.Origin.Channel
	if !m.Origin.Provenance.BelowFolder() {
		m.Origin.For = chela.PrincipalOwner
	}
	return m
}

// message reconstructs the message of an entry.
func message(e chela.Entry) chela.InboxMessage {
	b := e.User()
	m := chela.InboxMessage{ID: b.Inbox, State: chela.InboxWaiting}
	m.Text, m.Intent, m.Outside, m.Attachments, m.Offers = b.Text, b.Intent, b.Outside, b.Attachments, b.Offers
	m.Held = b.Held
	m.Origin = chela.Origin{Sender: b.From, Owner: b.From == "", Typed: b.Typed, Provenance: b.Provenance}
	return m
}

// endedFromOutside reports whether an outside event ended the turn.
func (p *player) endedFromOutside() bool {
	t := p.rec.Turn
	return t.State == chela.TurnInterrupted || t.Failure != nil && t.Failure.Limit == chela.LimitTime || p.gaveUp()
}

// gaveUp reports whether the turn's retries were exhausted, by crashes or by
// repeated errors.
func (p *player) gaveUp() bool {
	return p.rec.Turn.Crashes >= machine.MaxCrashes || p.inTheWay() != nil
}

// inTheWay returns the error that exhausted the retries of the turn, or nil.
func (p *player) inTheWay() error {
	f := p.rec.Turn.Failure
	if f == nil {
		return nil
	}
	why, ok := strings.CutPrefix(f.Message, machine.GaveUp)
	if !ok {
		return nil
	}
	return chela.E(f.Kind, why)
}

// over reports whether the remaining record contains only results of calls that
// never ran, or were running at the end of the turn.
func (p *player) over(s machine.State) bool {
	for _, e := range p.rest() {
		c, ok := p.recorded(e)
		if !p.neverRan(e) && !(ok && slices.Contains(p.running(s), placeOf(c))) {
			return false
		}
	}
	return !p.waitsFirst(s)
}

// running returns the positions of the running calls.
func (*player) running(s machine.State) (running []place) {
	for _, c := range s.Calls {
		if c.State == chela.CallRunning {
			running = append(running, placeOf(c.ToolCall))
		}
	}
	return running
}

// waitsFirst reports whether an open call must still be judged, approved or
// handed out before the record's next entry.
func (p *player) waitsFirst(s machine.State) bool {
	return slices.ContainsFunc(s.Calls, func(c machine.Call) bool {
		if c.Answered {
			return false
		}
		_, asked := p.asked[placeOf(c.ToolCall)]
		handedOut := c.Resume == chela.ResumeWait && !p.calls[placeOf(c.ToolCall)].StartedAt.IsZero()
		return c.State == chela.CallRequested && p.judged(c.Step) ||
			c.State == chela.CallAwaiting && asked && s.Pending == nil ||
			c.State == chela.CallApproved && handedOut
	})
}

// judged reports whether the calls of a step were judged at all.
func (p *player) judged(step int) bool {
	return slices.ContainsFunc(p.rec.Calls, func(c chela.ToolCall) bool {
		return c.Step == step && (c.Effect != "" || c.Resume == chela.ResumeWait || c.State == chela.CallDenied || c.State == chela.CallFailed)
	})
}

// neverRan reports whether an entry is the result of a call that never ran.
func (p *player) neverRan(e chela.Entry) bool {
	c, ok := p.recorded(e)
	return ok && never(c, e)
}

// recorded returns the call answered by an entry of the record.
func (p *player) recorded(e chela.Entry) (chela.ToolCall, bool) { return p.rec.call(e.Result().Call) }

// end ends the turn by the recorded outside event.
func (p *player) end() {
	switch {
	case p.gaveUp() && p.book.turn.Crashes < machine.MaxCrashes && p.book.givenUp == nil:
		p.control.Park()
	case p.gaveUp():
	case p.rec.Turn.State == chela.TurnInterrupted:
		p.control.Stop()
	default:
		p.control.TimeUp()
	}
}
