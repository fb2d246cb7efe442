// Package approval answers the questions that turns ask before they do what
// can hurt. A question is a row: it survives restarts, may be answered from any
// surface, and exactly one answer wins.
//
//	pending ─▶ granted     the call may run, once
//	        ─▶ denied      the model is told, with the reason
//	        ─▶ expired     nobody answered in time; as denied
//	        ─▶ withdrawn   the turn ended first
//
// An answer, what it means for the call, the standing answer that it may
// leave, and that the turn may go on are one transaction. The turn itself goes
// on in its lane.
package approval

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/lane/turns"
	"chela/internal/policy"
	"chela/internal/store"
)

// sweepTime is how often questions are looked at that nobody answered.
const sweepTime = time.Minute

// Config is what a desk needs. All fields are required.
type Config struct {
	IDs  *chela.IDs
	Now  func() time.Time
	Emit func(chela.Event)
	Log  *slog.Logger
	Hash func(tool string, args []byte) string         // binds a question to its call
	Wake func(context.Context, chela.SessionKey) error // makes a lane go on
}

// A Desk takes answers. It may be used by several goroutines at once.
type Desk struct {
	store *store.Store
	cfg   Config
}

// New returns a desk over a store.
func New(s *store.Store, cfg Config) *Desk { return &Desk{store: s, cfg: cfg} }

// A Reply is what somebody says to a question.
type Reply struct {
	ID      chela.ApprovalID
	Answer  chela.Answer
	Pattern string // with AnswerPattern: what is allowed from now on; empty means exactly this
	Comment string // with AnswerNo: what the model is told
	By      string // who answers, and through which channel

	// Message is the message whose text is the answer, if it came as one. It
	// is stored in the same transaction, so that its delivery counts once.
	Message *chela.Waiting
}

// Answer records an answer and lets the turn go on. It is NotFound if there is
// no such question, a Conflict if it was answered or has expired, and Invalid
// if the pattern names no part of the call.
func (d *Desk) Answer(ctx context.Context, r Reply) (chela.Approval, error) {
	var a chela.Approval
	var news []chela.Event
	err := d.store.Write(ctx, "approval.answer", func(w *store.Write) error {
		var err error
		if a, news, err = d.take(ctx, w, r); err != nil {
			return err
		}
		return w.Announce(ctx, a.AnsweredAt, news)
	})
	if err != nil {
		return a, err
	}
	return a, d.goOn(ctx, a, news)
}

// AnswerIn is Answer in a transaction of whoever calls, who announces the events
// with it and calls Wake for the question's session once it is committed. A
// question that has expired is left to Sweep.
func (d *Desk) AnswerIn(ctx context.Context, w *store.Write, r Reply) (chela.Approval, []chela.Event, error) {
	a, news, err := d.take(ctx, w, r)
	if err == nil {
		err = late(a)
	}
	return a, news, err
}

// take is Answer within a transaction. It returns what announces the answer.
func (d *Desk) take(ctx context.Context, w *store.Write, r Reply) (a chela.Approval, news []chela.Event, err error) {
	switch r.Answer {
	case chela.AnswerOnce, chela.AnswerSession, chela.AnswerPattern, chela.AnswerNo:
	default:
		return a, nil, chela.E(chela.Invalid, fmt.Sprintf("%q is not an answer", r.Answer)).
			WithHint("say once, session, pattern or no")
	}
	if a, err = d.locked(ctx, w, r.ID); err != nil {
		return a, nil, err
	}
	news, err = d.answer(ctx, w, &a, r)
	return a, news, err
}

// AnswerText takes a message for an answer if its text reads like one and
// exactly one question is pending in its thread, or it names one that is, as a
// program does; otherwise the message is an ordinary one, and AnswerText reports
// false.
func (d *Desk) AnswerText(ctx context.Context, in chela.Inbound) (chela.Approval, bool, error) {
	answer, short := ParseText(in.Text)
	reply, named := ParseJSON(in.Text)
	if !short && !named || !in.Origin.Owner || len(in.Attachments)+len(in.Results) > 0 {
		return chela.Approval{}, false, nil
	}
	asked, err := d.askedIn(ctx, in)
	if named {
		asked = slices.DeleteFunc(asked, func(a chela.Approval) bool { return a.ID != reply.ID })
	}
	if err != nil || len(asked) != 1 {
		return chela.Approval{}, false, err
	}
	if short {
		reply = Reply{ID: asked[0].ID, Answer: answer}
	}
	reply.By = "owner in " + in.Origin.Channel
	reply.Message = &chela.Waiting{ID: d.cfg.IDs.Inbox(), CreatedAt: d.cfg.Now(), Inbound: in}
	a, err := d.Answer(ctx, reply)
	return a, err == nil, err
}

// askedIn returns the questions that are pending in the thread of a message. A
// message that was delivered before finds none.
func (d *Desk) askedIn(ctx context.Context, in chela.Inbound) (asked []chela.Approval, err error) {
	err = d.store.Read(ctx, func(r *store.Read) error {
		_, known, err := r.Delivered(ctx, in.Origin.Channel, in.Origin.Account, in.MessageID)
		if err != nil || known {
			return err
		}
		thread := in.Thread
		if thread == "" {
			s, err := r.Session(ctx, in.Session)
			if chela.KindOf(err) == chela.NotFound {
				return nil
			}
			if err != nil {
				return err
			}
			thread = s.Thread
		}
		pending, err := r.PendingApprovals(ctx, in.Session)
		asked = slices.DeleteFunc(pending, func(a chela.Approval) bool { return a.Thread != thread })
		return err
	})
	return asked, err
}

// locked returns a question as it is once its lane is locked, so that nothing
// else decides about its turn meanwhile.
func (d *Desk) locked(ctx context.Context, w *store.Write, id chela.ApprovalID) (chela.Approval, error) {
	a, err := w.Approval(ctx, id)
	if err != nil {
		return a, err
	}
	if _, err := w.LockLane(ctx, a.Session); err != nil {
		return a, err
	}
	return w.Approval(ctx, id)
}

// answer is the transaction of an answer. An answer that comes too late closes
// the question as expired.
func (d *Desk) answer(ctx context.Context, w *store.Write, a *chela.Approval, r Reply) ([]chela.Event, error) {
	if a.State != chela.ApprovalPending {
		return nil, chela.E(chela.Conflict, fmt.Sprintf("approval %s is %s already%s", a.ID, a.State, by(a.AnsweredBy)))
	}
	call, err := w.Call(ctx, a.Call)
	if err != nil {
		return nil, err
	}
	if r.Answer != chela.AnswerNo && d.cfg.Hash(call.Tool, call.Args) != a.ArgsHash {
		return nil, chela.E(chela.Conflict, "the call has changed since it was asked about").WithHint("say no and let it be asked again")
	}
	a.Answer, a.Comment, a.AnsweredBy, a.AnsweredAt = r.Answer, r.Comment, r.By, d.cfg.Now()
	switch {
	case !a.AnsweredAt.Before(a.ExpiresAt):
		a.State, a.Answer = chela.ApprovalExpired, ""
	case r.Answer == chela.AnswerNo:
		a.State = chela.ApprovalDenied
	default:
		a.State = chela.ApprovalGranted
		if err := d.grant(ctx, w, a, r); err != nil {
			return nil, err
		}
	}
	if err := keep(ctx, w, *a, r.Message); err != nil {
		return nil, err
	}
	return d.settle(ctx, w, *a, call)
}

// keep stores the message that an answer came as, as part of the turn that it
// lets go on.
func keep(ctx context.Context, w *store.Write, a chela.Approval, m *chela.Waiting) error {
	if m == nil {
		return nil
	}
	place, _, err := w.Arrive(ctx, a.Session)
	if err != nil {
		return err
	}
	taken := *m
	taken.Thread, taken.State, taken.Turn = a.Thread, chela.InboxTaken, a.Turn
	added, err := w.AddMessage(ctx, taken, place.Arrivals)
	if err == nil && !added {
		err = chela.E(chela.Conflict, "the message was delivered before")
	}
	return err
}

// grant stores the standing answer that comes with "always".
func (d *Desk) grant(ctx context.Context, w *store.Write, a *chela.Approval, r Reply) error {
	if r.Answer == chela.AnswerOnce {
		return nil
	}
	session, err := w.Session(ctx, a.Session)
	if err != nil {
		return err
	}
	g := chela.Grant{ID: d.cfg.IDs.Grant(), Agent: session.Agent, Tool: a.Tool, Approval: a.ID, CreatedAt: a.AnsweredAt}
	if r.Answer == chela.AnswerSession {
		g.Session = a.Session
		return w.AddGrant(ctx, g)
	}
	if len(a.Subjects) == 0 {
		return chela.E(chela.Invalid, "this call has nothing that a pattern could name").WithHint("answer once, or for the session")
	}
	patterns := []string{r.Pattern}
	if r.Pattern == "" {
		patterns, g.Literal = a.Subjects, true
	}
	if a.Floor && strings.Trim(r.Pattern, "*") == "" && !g.Literal {
		return chela.E(chela.Invalid, "a pattern for something this risky must name it").WithHint("write out the part that may happen again")
	}
	for _, p := range patterns {
		names := func(subject string) bool { return policy.Names(p, g.Literal || a.Exact, subject) }
		if !slices.ContainsFunc(a.Subjects, names) {
			return chela.E(chela.Invalid, fmt.Sprintf("the pattern %q does not name any part of this call", p)).
				WithHint("use one that matches " + strings.Join(a.Subjects, ", "))
		}
		g.ID, g.Pattern = d.cfg.IDs.Grant(), p
		if err := w.AddGrant(ctx, g); err != nil {
			return err
		}
	}
	a.Pattern = strings.Join(patterns, "\n")
	return nil
}

// settle stores the outcome of a question, what it means for the call, and that
// the turn may go on. It returns what announces that.
func (d *Desk) settle(ctx context.Context, w *store.Write, a chela.Approval, call chela.ToolCall) ([]chela.Event, error) {
	if err := w.MoveApproval(ctx, a); err != nil {
		return nil, err
	}
	from := call.State
	switch a.State {
	case chela.ApprovalGranted:
		call.State = chela.CallApproved
	case chela.ApprovalExpired:
		call.State, call.Why, call.FinishedAt = chela.CallDenied, "denied: nobody answered in time", a.AnsweredAt
	default:
		call.State, call.Why, call.FinishedAt = chela.CallDenied, "denied: the owner said no", a.AnsweredAt
		if a.Comment != "" {
			call.Why += ": " + a.Comment
		}
	}
	if err := w.MoveCall(ctx, call, from); err != nil {
		return nil, err
	}
	turn, err := w.Turn(ctx, a.Turn)
	if err != nil {
		return nil, err
	}
	if err := turns.Resume(ctx, w, turn, a.AnsweredAt); err != nil {
		return nil, err
	}
	return []chela.Event{{
		Kind: chela.EventApprovalAnswered, Session: a.Session, Thread: a.Thread, Turn: a.Turn, Call: a.Call, Tool: a.Tool,
		Approval: a.ID, Text: string(a.State),
	}}, nil
}

// goOn announces an outcome and wakes the lane. An outcome that is not the one
// that was asked for is an error.
func (d *Desk) goOn(ctx context.Context, a chela.Approval, news []chela.Event) error {
	for _, e := range news {
		d.cfg.Emit(e)
	}
	d.Wake(ctx, a.Session)
	return late(a)
}

// Wake lets the turn go on whose question was answered. The answer is committed:
// if that fails, the turn is found later.
func (d *Desk) Wake(ctx context.Context, key chela.SessionKey) {
	if err := d.cfg.Wake(ctx, key); err != nil {
		d.cfg.Log.Warn("lane not taken", "session", key, "error", err)
	}
}

// late is the error for an answer that came after the time of its question.
func late(a chela.Approval) error {
	if a.State == chela.ApprovalExpired && a.AnsweredBy != "" {
		return chela.E(chela.Conflict, fmt.Sprintf("approval %s expired at %s; the call was denied", a.ID, a.ExpiresAt.Format(time.RFC3339))).
			WithHint("ask the agent again")
	}
	return nil
}

// Run closes questions that nobody answered in time, now and every minute,
// until ctx ends. A look that fails is logged, and repeated with the next.
func (d *Desk) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepTime)
	defer tick.Stop()
	for {
		if err := d.Sweep(ctx); err != nil && ctx.Err() == nil {
			d.cfg.Log.Warn("expired approvals not closed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep closes the questions whose time is over.
func (d *Desk) Sweep(ctx context.Context) error {
	var pending []chela.Approval
	err := d.store.Read(ctx, func(r *store.Read) error {
		var err error
		pending, err = r.PendingApprovals(ctx, "")
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range pending {
		if d.cfg.Now().Before(a.ExpiresAt) {
			continue
		}
		a.State, a.AnsweredAt = chela.ApprovalExpired, d.cfg.Now()
		var news []chela.Event
		err := d.store.Write(ctx, "approval.expire", func(w *store.Write) error {
			if _, err := w.LockLane(ctx, a.Session); err != nil {
				return err
			}
			call, err := w.Call(ctx, a.Call)
			if err != nil {
				return err
			}
			if news, err = d.settle(ctx, w, a, call); err != nil {
				return err
			}
			return w.Announce(ctx, a.AnsweredAt, news)
		})
		switch {
		case chela.KindOf(err) == chela.Conflict: // answered at the last moment
		case err != nil:
			return err
		default:
			if err := d.goOn(ctx, a, news); err != nil {
				return err
			}
		}
	}
	return nil
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}
