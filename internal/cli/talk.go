package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"chela"
	"chela/internal/channel/terminal"
)

// approveMode says what becomes of approvals that a turn asks for.
type approveMode string

// The modes of --approve.
const (
	approveAsk    approveMode = "ask"    // ask the person, if there is a terminal
	approveAlways approveMode = "always" // allow what may be allowed unseen
	approveNever  approveMode = "never"  // leave them pending
)

// A talk carries turns from their message to their end.
type talk struct {
	b             *Backend
	p             *printer
	in            *terminal.Input
	approve       approveMode
	person        bool // somebody is there to answer
	interruptible func(context.Context) (context.Context, context.CancelFunc)
	r             *terminal.Renderer
	show          func(chela.Event) // of the renderer, or what stands for it
}

// ask sends a message and follows its turn to the end, or to an approval that
// nobody here answers.
func (t *talk) ask(ctx context.Context, in chela.Inbound) (chela.Turn, error) {
	turn, err := t.follow(ctx, func(ctx context.Context) (chela.Turn, error) {
		return t.b.Conversation.Ask(ctx, in, t.show)
	})
	if err != nil {
		return turn, err
	}
	return t.settle(ctx, turn)
}

// resume follows a turn that is there already.
func (t *talk) resume(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	turn, err := t.follow(ctx, func(ctx context.Context) (chela.Turn, error) {
		return t.b.Conversation.Follow(ctx, id, t.show)
	})
	if err != nil {
		return turn, err
	}
	return t.settle(ctx, turn)
}

// follow begins to follow a turn. Ctrl-C stops the turn, and the end of that is
// waited for; a second Ctrl-C ends the process.
func (t *talk) follow(ctx context.Context, begin func(context.Context) (chela.Turn, error)) (chela.Turn, error) {
	within, release := t.interruptible(ctx)
	turn, err := begin(within)
	pressed := within.Err() != nil && ctx.Err() == nil
	release()
	if !pressed || err == nil {
		return turn, err
	}
	if turn.ID == "" {
		return turn, errInterrupted
	}
	if err := t.b.Conversation.Stop(ctx, turn.ID); err != nil && chela.KindOf(err) != chela.Conflict {
		return turn, err
	}
	return t.b.Conversation.Follow(ctx, turn.ID, t.show)
}

// settle answers the approvals of a turn until it ended or one stays open.
func (t *talk) settle(ctx context.Context, turn chela.Turn) (chela.Turn, error) {
	for turn.State == chela.TurnAwaiting {
		open, err := t.pending(ctx, turn.ID)
		if err != nil {
			return turn, err
		}
		answered, err := t.answerAll(ctx, open)
		if err != nil {
			return turn, err
		}
		if len(open) > 0 && !answered {
			return turn, needed(open[0])
		}
		turn, err = t.follow(ctx, func(ctx context.Context) (chela.Turn, error) {
			return t.b.Conversation.Follow(ctx, turn.ID, t.show)
		})
		if err != nil {
			return turn, err
		}
		if turn.State == chela.TurnAwaiting && len(open) == 0 {
			return turn, ending(turn)
		}
	}
	return turn, ending(turn)
}

// needed is the end of a command whose turn waits for an approval.
func needed(a chela.Approval) error {
	return chela.E(chela.Denied, fmt.Sprintf("%s waits for an approval: %s", a.Tool, terminal.OneLine(a.Preview, 60))).
		WithHint("answer with chela approvals yes " + string(a.ID) + ", or no")
}

func (t *talk) pending(ctx context.Context, turn chela.TurnID) ([]chela.Approval, error) {
	all, err := t.b.Approvals.Approvals(ctx, chela.ApprovalPending)
	if err != nil {
		return nil, err
	}
	var own []chela.Approval
	for _, a := range all {
		if a.Turn == turn {
			own = append(own, a)
		}
	}
	return own, nil
}

// answerAll answers the open approvals of a turn. It reports false at the
// first that nobody here may or does answer.
func (t *talk) answerAll(ctx context.Context, open []chela.Approval) (bool, error) {
	for _, a := range open {
		var answered bool
		var err error
		switch {
		case t.approve == approveAlways && !a.Floor:
			_, err = t.b.Approvals.Answer(ctx, Reply{
				Approval: a.ID, Answer: chela.AnswerOnce, By: "owner with --approve=always",
			})
			answered = true
		case t.approve != approveNever && t.person:
			answered, err = t.question(ctx, a)
		}
		if chela.KindOf(err) == chela.Conflict {
			continue // answered from elsewhere
		}
		if err != nil || !answered {
			return false, err
		}
	}
	return true, nil
}

// question asks a person until there is a reply that is taken, or no more
// input.
func (t *talk) question(ctx context.Context, a chela.Approval) (bool, error) {
	q := terminal.Ask(a)
	t.r.Note(q.Text())
	for {
		t.p.Prompt(q.Prompt())
		line, err := t.in.Line()
		if errors.Is(err, io.EOF) {
			t.r.Note("")
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read an answer: %w", err)
		}
		said, next, say := q.Decide(line)
		if say != "" {
			t.r.Note(say)
		}
		q = next
		if said == nil {
			continue
		}
		_, err = t.b.Approvals.Answer(ctx, Reply{
			Approval: a.ID, Answer: said.Answer, Pattern: said.Pattern, Comment: said.Comment, By: "owner on the terminal",
		})
		if chela.KindOf(err) != chela.Invalid {
			return err == nil, err
		}
		t.r.Note(chela.MessageOf(err))
	}
}

// answer returns the last thing the model said in a turn.
func (t *talk) answer(ctx context.Context, id chela.TurnID) (string, error) {
	entries, _, err := t.b.Turns.Transcript(ctx, id)
	if err != nil {
		return "", err
	}
	text := ""
	for _, e := range entries {
		if e.Kind == chela.EntryAssistant {
			text = e.Body.Text
		}
	}
	return text, nil
}
