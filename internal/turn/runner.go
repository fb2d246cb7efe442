package turn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"chela"
	"chela/internal/compaction"
	"chela/internal/control"
	"chela/internal/excerpt"
	"chela/internal/hook"
	"chela/internal/prompt"
	"chela/internal/tool"
	"chela/internal/turn/machine"
)

// A Journal is where a run appends what came of its actions.
type Journal interface {
	// Append commits a change in one transaction, under the lease of the run,
	// and announces its events. Once it returned nil the change survives anything. After an error the
	// run is over: the lease is lost, or the journal must be read before it is
	// appended to again.
	Append(ctx context.Context, op string, ch machine.Change) error

	// Steering returns the messages that wait to enter the turn.
	Steering(ctx context.Context) ([]chela.Waiting, error)
}

// A Toolbox is what a turn knows of tools.
type Toolbox interface {
	// Get returns the tool with a name.
	Get(name string) (chela.Tool, bool)

	// Check returns args with harmless mistakes mended, or a NotFound or
	// Invalid error whose message lists everything that is wrong with them.
	Check(name string, args json.RawMessage) (json.RawMessage, error)

	// Hash returns what binds an approval to a call: a hash of the tool's name
	// and its canonical arguments.
	Hash(name string, args json.RawMessage) string
}

// A Ruling is what the policy says of a call, and why.
type Ruling struct {
	Verdict chela.Verdict
	Reason  string
}

// A PolicyFunc rules on a call that passed its schema.
type PolicyFunc func(ctx context.Context, t chela.Turn, c chela.ToolCall, j chela.Judgement) (Ruling, error)

// An Agent is who takes a turn: its model, tools and rules.
type Agent struct {
	Name     string
	Provider chela.Provider
	Model    string // as the provider knows it

	// Cheap returns who writes summaries, and the model's name there. It is asked
	// when there is one to write. If it, or what it returns, is nil, Provider does.
	Cheap func() (p chela.Provider, model string)

	Thinking chela.ThinkingLevel
	Frame    prompt.Frame
	Tools    Toolbox
	Policy   PolicyFunc
	Hooks    *hook.Hooks // nil for none
}

// A CompactFunc does what [compaction.Compactor.Compact] does.
type CompactFunc func(ctx context.Context, r compaction.Request) (summary string, paid *chela.Finish, err error)

// Config is what runs have in common. The fields up to Grace are required.
type Config struct {
	IDs     *chela.IDs
	Now     func() time.Time
	Emit    func(chela.Event)
	Log     *slog.Logger
	Limits  machine.Limits
	Expires time.Duration // how long an approval may be answered
	Grace   time.Duration // how long a cancelled tool may take to end
	Prompt  prompt.Settings

	// Compact keeps what leaves a prompt and returns the summary. Without it
	// nothing leaves.
	Compact CompactFunc
	Flush   bool // notes for the memory are asked for before something leaves
	Load    func(context.Context, chela.Attachment) ([]byte, error)
	Bound   tool.BoundFunc // bounds the results of calls

	// Before is called before each action with the state that it is chosen for,
	// and must not change it. A turn that is run again from its record is told
	// there what happened beside it. Nil does nothing.
	Before func(machine.State)
}

// A Runner performs turns. It may be used by several goroutines at once.
type Runner struct {
	cfg Config
}

// NewRunner returns a runner.
func NewRunner(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Run performs a turn from where s is, until it ends, waits for a person, or is
// parked; the returned state tells which. On error the journal holds what was
// appended before, and the state is not to be used.
//
// When ctx ends, the run is cut off: what was not appended is as if it had not
// happened, and a call with an effect that was under way stays marked running.
func (r *Runner) Run(ctx context.Context, agent Agent, j Journal, ctl *control.Handle, s machine.State) (machine.State, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer ctl.Attach(cancel)()
	n := r.run(s)
	if limit := n.Limits.Time; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, control.ErrTimeUp)
		defer stop()
	}
	n.agent, n.journal, n.control = agent, j, ctl
	err := n.loop(ctx)
	return n.state, err
}

// run returns a run from where s is.
func (r *Runner) run(s machine.State) *run {
	n := &run{Config: r.cfg, state: s, saved: savedOf(s)}
	n.Limits = n.Limits.Under(s.Turn.Overrides)
	return n
}

// run is one attempt to carry out a turn. It belongs to one goroutine.
type run struct {
	Config
	agent   Agent
	journal Journal
	control *control.Handle

	state   machine.State
	saved   saved          // what the journal has of the state
	buffer  machine.Change // what it does not have yet
	keep    bool           // the buffer must be appended before the model is asked again
	events  []chela.Event  // to be announced once the buffer is appended
	failure *chela.Failure // why the model could not be asked
	refused *chela.Failure // what the provider said of a prompt that it found too large
	tried   chela.Strategy // the strongest that did not work out for the next request
	stoodIn bool           // people were told that another model answers
	again   bool           // a process died which may have made the next request of the model

	framed *prompt.Frame    // the agent's frame with offers
	offers []chela.ToolSpec // those
}

// loop performs one action after the other.
func (n *run) loop(ctx context.Context) error {
	n.again = n.state.Left
	for {
		if n.Before != nil {
			n.Before(n.state)
		}
		if n.control.Parked() {
			return n.park(ctx)
		}
		if err := cutOff(ctx); err != nil {
			return err
		}
		action := machine.Next(n.state, n.facts(ctx))
		done, err := n.perform(ctx, action)
		if err != nil || done {
			return err
		}
	}
}

// perform carries out an action. It reports whether the run is at its end.
func (n *run) perform(ctx context.Context, a machine.Action) (done bool, err error) {
	for i := range a.Calls {
		a.Calls[i].Agent = n.agent.Name // the journal does not hold it
	}
	switch a.Kind {
	case machine.CallModel:
		return false, n.callModel(ctx, a)
	case machine.Judge:
		return false, n.judge(ctx, a.Calls)
	case machine.RunTools:
		return false, n.runTools(ctx, a.Calls)
	case machine.Resolve:
		return false, n.resolve(ctx, a.Calls)
	case machine.Compact:
		return false, n.compact(ctx, a.Plan)
	case machine.Absorb:
		return false, n.absorb(ctx)
	case machine.Ask:
		return n.ask(ctx, a.Calls[0])
	case machine.HandOut:
		return true, n.handOut(ctx, a.Calls)
	case machine.Finish:
		return true, n.finish(ctx, a)
	default: // Wait, Done
		return true, n.flush(ctx, "turn.rest")
	}
}

// facts gathers what Next must know beside the record.
func (n *run) facts(ctx context.Context) machine.Facts {
	cause := context.Cause(ctx)
	return machine.Facts{
		Limits:   n.Limits,
		Stop:     errors.Is(cause, control.ErrStopped),
		TimeUp:   errors.Is(cause, control.ErrTimeUp),
		Steering: n.control.Steering(),
		Failure:  n.failure,
		Budget:   n.budget(),
		Compacts: n.Compact != nil,
		Flushes:  n.flushes(),
		Tried:    n.tried,
		Refused:  n.refused,
		Tools:    n.agent.Frame.Tools,
	}
}

// cutOff returns why ctx ended, unless it ended for a reason that the turn
// itself deals with.
func cutOff(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, control.ErrStopped) || errors.Is(cause, control.ErrTimeUp) {
		return nil
	}
	return cause
}

// park appends what is in memory and leaves the turn for another run.
func (n *run) park(ctx context.Context) error {
	return n.flush(ctx, "turn.park")
}

// emit announces a hint at once.
func (n *run) emit(e chela.Event) {
	if n.quiet(e) {
		return
	}
	e.Session, e.Thread, e.Turn, e.At = n.state.Turn.Session, n.state.Turn.Thread, n.state.Turn.ID, n.Now()
	n.Emit(e)
}

// quiet reports whether an event is of a call that people do not see, as the
// model only writes notes.
func (n *run) quiet(e chela.Event) bool { return e.Call != "" && n.state.Flush.On }

// maxEventText is how much of an argument or a preview an event shows, in bytes;
// readers fetch the rest.
const maxEventText = 4096

// announce queues an event about something in the buffer until it is durable.
func (n *run) announce(e chela.Event) {
	if n.quiet(e) {
		return
	}
	e.Text = excerpt.Marked(e.Text, maxEventText)
	e.Session, e.Thread, e.Turn, e.At = n.state.Turn.Session, n.state.Turn.Thread, n.state.Turn.ID, n.Now()
	n.events = append(n.events, e)
}
