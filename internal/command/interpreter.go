package command

import (
	"context"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/approval"
	"chela/internal/command/grammar"
	"chela/internal/command/routines"
	"chela/internal/lane"
	"chela/internal/store"
)

// Config is what an interpreter needs. All fields but Version are required.
type Config struct {
	IDs     *chela.IDs
	Now     func() time.Time
	Lanes   lanes
	Desk    desk
	Version string // of the program; may be empty

	// Model returns the model of a new turn, as provider/model.
	Model func(s chela.Session, in chela.Inbound) string

	// Usable returns nil if a model can be asked, as provider/model.
	Usable func(model string) error

	// Models returns the models that are known, and who did not tell theirs.
	Models func(ctx context.Context) (api.Models, error)

	// Tools returns the tools of an agent.
	Tools func(ctx context.Context, agent string) ([]chela.Tool, error)

	// Rewinds move threads to and fro.
	Rewinds rewinds

	// Jobs keeps jobs.
	Jobs Jobs

	// Memory is where the documents of agents are.
	Memory documents

	// Prompt returns what the next prompt of a thread takes.
	Prompt func(ctx context.Context, id chela.ThreadID) (chela.PromptSize, error)

	// Budgets returns the limits of money that apply to a session.
	Budgets func(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error)

	// Routines are what fires by itself.
	Routines routines.Home

	// Zone is where the owner lives.
	Zone *time.Location

	// Queue returns how a message waits in a session with such settings.
	Queue func(in chela.Inbound, s chela.Settings) chela.QueueSettings
}

// lanes carries orders out, and stops turns.
type lanes interface {
	Control(ctx context.Context, in chela.Inbound, do lane.Order) (lane.Receipt, error)
	Known(ctx context.Context, in chela.Inbound) (lane.Receipt, bool, error)
	StopIn(ctx context.Context, w *store.Write, t chela.Turn) (then func(context.Context), err error)
}

// desk takes answers to questions.
type desk interface {
	AnswerIn(ctx context.Context, w *store.Write, r approval.Reply) (chela.Approval, []chela.Event, error)
	Wake(ctx context.Context, key chela.SessionKey)
}

// An Interpreter carries out what messages order. It may be used by several
// goroutines at once.
type Interpreter struct {
	cfg    Config
	store  *store.Store
	orders map[string]handler // by the name of the command
}

// A handler prepares a command: what it asks of others it has done when it
// returns, what it changes in the store is left to the order. What stands alone
// is looked for by the order, so that a delivery that comes twice finds the
// same.
type handler func(ctx context.Context, g given) (lane.Order, error)

// A given is a command with what it was given in.
type given struct {
	chela.Inbound
	form    grammar.Form
	args    string
	session chela.Session // without a thread where there is none yet
	thread  chela.Thread  // that the message goes to
}

// inGroup reports whether several people see the reply.
func (g given) inGroup() bool {
	key, err := chela.ParseSessionKey(g.Session)
	return err != nil || key.IsGroup()
}

// New returns an interpreter over a store.
func New(s *store.Store, cfg Config) *Interpreter {
	i := &Interpreter{cfg: cfg, store: s}
	i.orders = map[string]handler{
		"help": i.help, "status": i.status, "whoami": i.whoami, "ping": i.ping, "version": i.version, "tools": i.tools,
		"new": i.begin, "thread": i.threads, "resume": i.resume, "stop": i.stop,
		"undo": i.undo, "redo": i.redo, "checkpoint": i.checkpoint, "restore": i.restore, "branch": i.branch,
		grammar.Think: i.show, grammar.Model: i.models, grammar.Verbose: i.show, grammar.Reasoning: i.show, grammar.Elevated: i.show, grammar.Queue: i.show,
		"approve": i.approve, "deny": i.deny, "memory": i.memory, "routine": i.routine, "heartbeat": i.heartbeat, "context": i.promptSize, "usage": i.usage, "debug": i.debug, "quit": i.quit,
		"job": i.job, "jobs": i.jobs, "cancel": i.cancel, "subagents": i.subagents,
	}
	return i
}

// Take looks whether a message orders something. A command is carried out, and
// the receipt has its reply; the message is not to be submitted then. Any other
// message comes back without its directives, which are set in it. What cannot be
// carried out is an error, and nothing was changed.
func (i *Interpreter) Take(ctx context.Context, in chela.Inbound) (chela.Inbound, *lane.Receipt, error) {
	if in.Command != "" || len(in.Results) > 0 {
		return in, nil, nil
	}
	p, err := grammar.Parse(in.Text)
	if err != nil {
		return in, nil, err
	}
	switch {
	case p.Command != nil && p.Command.Form.Spoken():
		return becomes(in, *p.Command), nil, refused(in, p.Command.Form)
	case p.Command != nil:
		return i.carryOut(ctx, in, p.Command.Form, func(ctx context.Context) (lane.Order, error) {
			return i.prepare(ctx, in, *p.Command)
		})
	case len(p.Directives) == 0:
		in.Text = p.Text
		return in, nil, nil
	case p.Text == "" && len(in.Attachments) == 0:
		return i.carryOut(ctx, in, p.Directives[0].Form, func(context.Context) (lane.Order, error) {
			return i.settle(ctx, in, p.Directives)
		})
	default:
		in, err = i.directed(in, p)
		return in, nil, err
	}
}

// refused is the error for a command that is not for whoever gave it.
func refused(in chela.Inbound, f grammar.Form) error {
	if f.Open || in.Origin.Owner {
		return nil
	}
	return chela.E(chela.Denied, "/"+f.Name+" is for the owner")
}

// carryOut carries a command out, unless its delivery is known.
func (i *Interpreter) carryOut(ctx context.Context, in chela.Inbound, f grammar.Form, prepare func(context.Context) (lane.Order, error)) (chela.Inbound, *lane.Receipt, error) {
	if err := refused(in, f); err != nil {
		return in, nil, err
	}
	r, ok, err := i.cfg.Lanes.Known(ctx, in)
	if err != nil || ok {
		return in, &r, err
	}
	do, err := prepare(ctx)
	if err != nil {
		return in, nil, err
	}
	r, err = i.cfg.Lanes.Control(ctx, in, do)
	return in, &r, err
}

// prepare hands a command to its handler.
func (i *Interpreter) prepare(ctx context.Context, in chela.Inbound, c grammar.Command) (lane.Order, error) {
	g := given{Inbound: in, form: c.Form, args: c.Args}
	g.session = chela.Session{Key: in.Session, Agent: in.Agent}
	err := i.store.Read(ctx, func(r *store.Read) error {
		s, err := r.Session(ctx, in.Session)
		if chela.KindOf(err) == chela.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		g.session = s
		if in.Thread == "" {
			g.thread, err = r.Thread(ctx, s.Thread)
		} else {
			g.thread, err = r.Thread(ctx, in.Thread)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return i.orders[c.Form.Name](ctx, g)
}

// reply is an order that changes nothing.
func reply(text string) lane.Order {
	return func(*store.Write, *store.Arrival) (lane.Outcome, error) { return lane.Outcome{Reply: text}, nil }
}

// save stores a session that an order has changed. The text is the reply.
func (i *Interpreter) save(ctx context.Context, w *store.Write, at *store.Arrival, text string) (lane.Outcome, error) {
	at.Session.UpdatedAt = i.cfg.Now().UTC().Truncate(time.Microsecond)
	events := []chela.Event{{Kind: chela.EventSessionChanged, Session: at.Session.Key, Thread: at.Session.Thread}}
	return lane.Outcome{Reply: text, Events: events}, w.SaveSession(ctx, at.Session)
}

// becomes returns the message that a command becomes: a request to the agent, or
// a turn of its own kind.
func becomes(in chela.Inbound, c grammar.Command) chela.Inbound {
	text := map[string]string{
		grammar.Summarize: "Summarize this conversation so far: what was asked for, what was found out, done and decided, and what is still open.",
		grammar.Suggest:   "Suggest up to five things that could be done next in this conversation, the most useful one first, a line for each.",
	}[c.Form.Name]
	switch {
	case c.Form.Name == grammar.Compact:
		in.Command, in.Text = chela.CommandCompact, c.Args
	case c.Args != "":
		in.Text = text + "\n\nThis matters most: " + c.Args
	default:
		in.Text = text
	}
	return in
}
