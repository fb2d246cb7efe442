// Package talk is what a person and an agent say to each other on the command
// line: a message, the turn as it goes, the approvals it asks for, the answer.
package talk

import (
	"context"
	"io"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/approval"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

// A Home is what talking needs of an open home. The methods do what those of
// the same name in cli.Backend do.
type Home struct {
	Conversation conversation
	Approvals    approvals
	Turns        turns
	Sessions     sessions
	Attach       func(ctx context.Context, name string, content io.Reader) (chela.Attachment, error)
	Listen       func(ctx context.Context, key chela.SessionKey, show func(chela.Event))
	Notices      func(ctx context.Context) ([]chela.Outbound, error)
	Seen         func(ctx context.Context, ids []chela.OutboxID) error
}

type conversation interface {
	Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error)
	Follow(ctx context.Context, id chela.TurnID, show func(chela.Event)) (chela.Turn, error)
	Stop(ctx context.Context, id chela.TurnID) error
}

type approvals interface {
	Approvals(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error)
	Answer(ctx context.Context, r approval.Reply) (chela.Approval, error)
}

type sessions interface {
	Session(ctx context.Context, key chela.SessionKey) (api.Session, error)
}

type turns interface {
	Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error)
	Transcript(ctx context.Context, id chela.TurnID) ([]chela.Entry, []chela.ToolCall, error)
}

// A Person is who talks, and through which streams.
type Person struct {
	Printer       *manners.Printer
	Stdin         io.Reader
	Arrives       func() bool // as in cli.Program
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)

	in *terminal.Input // of Stdin; what it has read ahead belongs to whoever reads next
}

// input returns what the person types or pipes in.
func (p *Person) input() *terminal.Input {
	if p.in == nil {
		p.in = terminal.NewInput(p.Stdin)
	}
	return p.in
}

// An answer is what is printed as JSON.
type answer struct {
	Session   chela.SessionKey `json:"session"`
	Thread    chela.ThreadID   `json:"thread"`
	Turn      chela.TurnID     `json:"turn,omitempty"`
	State     chela.TurnState  `json:"state,omitempty"`
	Text      string           `json:"text"`
	Model     string           `json:"model,omitempty"` // that said the text
	Stop      chela.StopReason `json:"stop,omitempty"`  // why it said no more
	Reply     string           `json:"reply,omitempty"` // to a command, which has no turn
	Failure   *chela.Failure   `json:"failure,omitempty"`
	Approvals []chela.Approval `json:"approvals,omitempty"` // what the turn waits for
}

// Piped adds what is piped in to the text of the command line. It is an Invalid
// error if there is neither.
func (p *Person) Piped(text string) (string, error) {
	switch {
	case !terminal.IsPiped(p.Stdin):
	case text != "" && !p.Arrives():
		p.Printer.Note("nothing comes from standard input, so only the text is sent; end it with < /dev/null, or pipe the text too")
	default:
		piped, err := p.input().All()
		if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text + "\n\n" + piped)
	}
	if strings.TrimSpace(text) == "" {
		return "", chela.E(chela.Invalid, "there is nothing to ask").WithHint(`write chela ask "TEXT", or pipe it in`)
	}
	return text, nil
}

// Ask sends a message, sees its turn to the end and prints the answer. The
// error says how the turn ended, if not well.
func (p *Person) Ask(ctx context.Context, h Home, o Options, message chela.Inbound) error {
	view, err := h.viewOf(ctx, message)
	if err != nil {
		return err
	}
	view.Stream = o.Stream && !p.Printer.JSON
	d := p.dialog(ctx, h, view)
	d.approve = o.Approve
	if o.Stream && p.Printer.JSON {
		d.show = d.eventLine
	}
	if d.person {
		p.tellNotices(ctx, h)
	}
	turn, err := d.ask(ctx, message)
	if turn.ID == "" && message.Thread != "" { // it is not there, so there is no turn
		err = manners.NotThere(err, "see chela threads list --session "+string(message.Session))
	}
	return d.answered(ctx, turn, err)
}

// Resume sees a turn that is there already to its end, as Ask does.
func (p *Person) Resume(ctx context.Context, h Home, id chela.TurnID) error {
	t, err := h.Turns.Turn(ctx, id)
	if err != nil {
		return err
	}
	view, err := h.view(ctx, t.Session, t.Overrides)
	if err != nil {
		return err
	}
	d := p.dialog(ctx, h, view)
	turn, err := d.resume(ctx, id)
	return d.answered(ctx, turn, err)
}

// answered prints what a turn came to. A turn that did not complete may have
// an answer all the same.
func (d *dialog) answered(ctx context.Context, turn chela.Turn, ended error) error {
	if turn.ID == "" || ctx.Err() != nil {
		d.r.Finish("")
		if d.Printer.JSON && d.reply.Text != "" {
			return d.Printer.Document(answer{Session: d.reply.Session, Thread: d.reply.Thread, Reply: d.reply.Text})
		}
		return ended
	}
	said, err := d.answer(ctx, turn)
	if err != nil {
		return err
	}
	if !d.Printer.JSON {
		d.r.Finish(said.Text)
		return ended
	}
	a := answer{
		Session: turn.Session, Thread: turn.Thread, Turn: turn.ID, State: turn.State,
		Text: said.Text, Model: said.Model, Stop: said.Stop, Failure: turn.Failure,
	}
	if turn.State == chela.TurnAwaiting {
		if a.Approvals, err = d.pending(ctx, turn.ID); err != nil {
			return err
		}
	}
	if err := d.Printer.Document(a); err != nil {
		return err
	}
	return ended
}

// eventLine prints an event as one line of JSON.
func (d *dialog) eventLine(e chela.Event) {
	if e.Kind == chela.EventReply {
		d.reply = e // a part of the document at the end
		return
	}
	d.Printer.Compact(e) //nolint:errcheck // text, numbers and a time are JSON
}
