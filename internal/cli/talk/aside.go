package talk

import (
	"context"
	"sync"

	"chela"
	"chela/internal/cli/manners"
	"chela/internal/cue"
)

// An aside is what is said in the session of a chat without being asked for there:
// answers to turns that chela began itself, and notices. It waits for the end of an
// exchange, and is printed while the chat waits for its person.
type aside struct {
	*Person
	home  Home
	again func() // prints the prompt once more

	talking sync.Mutex            // held during an exchange
	asked   map[chela.TurnID]bool // guarded by talking; turns of this chat
}

// exchange keeps asides back while do talks, and from then on leaves out the turn
// that it talked about.
func (a *aside) exchange(do func() (chela.TurnID, error)) error {
	a.talking.Lock()
	defer a.talking.Unlock()
	id, err := do()
	a.asked[id] = true
	return err
}

// listen prints asides until ctx ends.
func (a *aside) listen(ctx context.Context, key chela.SessionKey) {
	a.home.Listen(ctx, key, func(e chela.Event) {
		a.talking.Lock()
		defer a.talking.Unlock()
		if ctx.Err() == nil && a.tell(ctx, e) {
			a.again()
		}
	})
}

// tell prints what an event tells of, and reports whether there was anything.
func (a *aside) tell(ctx context.Context, e chela.Event) bool {
	switch {
	case e.Kind == chela.EventNotice && e.Turn == "": // those of a turn are hints for who follows it
		return a.tellNotices(ctx, a.home) > 0
	case e.Kind != chela.EventTurnFinished || a.asked[e.Turn]:
		return false
	}
	t, err := a.home.Turns.Turn(ctx, e.Turn)
	if err != nil || t.Origin.Followed() { // its ending is told in another way, if at all
		return false
	}
	view, err := a.home.view(ctx, t.Session, t.Overrides)
	if err != nil {
		return false
	}
	d := a.dialog(ctx, a.home, view)
	said, err := d.answer(ctx, t)
	switch {
	case err != nil || t.State == chela.TurnCompleted && cue.Silent(said.Text):
		return false
	case said.Text != "":
		a.Printer.Text("\n")
		d.r.Finish(said.Text)
	default:
		a.Printer.Note("\n" + manners.ErrorLine(ending(t)))
	}
	return true
}

// tellNotices prints what people are to be told and nobody has seen, and returns how
// much that was. What was not said to be seen is told again.
func (p *Person) tellNotices(ctx context.Context, h Home) int {
	pending, err := h.Notices(ctx)
	if err != nil || len(pending) == 0 {
		return 0
	}
	ids := make([]chela.OutboxID, len(pending))
	for i, o := range pending {
		p.Printer.Note(p.Printer.Moment(o.CreatedAt) + "  " + o.Text)
		ids[i] = o.ID
	}
	if err := h.Seen(ctx, ids); err != nil {
		p.Printer.Note("these are told again: " + chela.MessageOf(err))
	}
	return len(pending)
}
