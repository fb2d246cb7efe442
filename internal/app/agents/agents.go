// Package agents makes the agents that take turns, of the configuration and of
// what their documents say.
package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"chela"
	"chela/internal/app/providers"
	"chela/internal/config"
	"chela/internal/hook"
	"chela/internal/memory"
	"chela/internal/policy"
	"chela/internal/prompt"
	"chela/internal/routing"
	"chela/internal/store"
	"chela/internal/tool"
	"chela/internal/turn"
)

// Config is what agents are made of. All fields are required.
type Config struct {
	Settings  *config.Config
	Store     *store.Store
	Providers *providers.Providers
	Tools     []chela.Tool
	Hooks     *hook.Hooks

	// Identity returns what an agent's documents add to the system text of a
	// turn in a session.
	Identity func(ctx context.Context, agent string, session chela.SessionKey) (memory.Identity, error)
}

// Agents makes agents. It may be used by several goroutines at once.
type Agents struct {
	cfg   Config
	rules []policy.Rule

	mu     sync.Mutex
	frames map[frameKey]frame // guarded by mu
}

// A frameKey names a frame.
type frameKey struct {
	agent string
	kind  chela.KeyKind // of the session, as kindOf has it
}

// A frame is what an agent's turns in sessions of one kind share.
type frame struct {
	prompt.Frame
	tools Toolbox
}

// A Toolbox is a set of tools as turns know it.
type Toolbox struct{ *tool.Set }

// Hash implements turn.Toolbox.
func (Toolbox) Hash(name string, args json.RawMessage) string { return tool.Hash(name, args) }

// New returns the agents of a configuration.
func New(cfg Config) *Agents {
	a := &Agents{cfg: cfg, frames: map[frameKey]frame{}}
	for _, r := range cfg.Settings.Policy {
		a.rules = append(a.rules, policy.Rule(r))
	}
	return a
}

// Model returns the model of a new turn: the message's, the session's, the
// agent's or the home's.
func (a *Agents) Model(s chela.Session, in chela.Inbound) string {
	agent, _ := a.cfg.Settings.Agent(s.Agent) // one that is not configured has no model of its own
	return cmp.Or(in.Model, s.Settings.Model, agent.Model, a.cfg.Settings.Model)
}

// TurnModel returns the model of a new turn that is made of some messages: where
// nobody chose one for the message or the session, that may be the agent's cheap
// one.
func (a *Agents) TurnModel(s chela.Session, t chela.Thread, messages []chela.Waiting) string {
	model := a.Model(s, messages[0].Inbound)
	agent, err := a.cfg.Settings.Agent(s.Agent)
	chosen := messages[0].Model != "" || s.Settings.Model != ""
	if err != nil || chosen || agent.CheapModel == "" || !a.cfg.Settings.Routing.Smart {
		return model
	}
	q := routing.Question{Entries: t.Seq, Thinking: cmp.Or(messages[0].Overrides.Thinking, s.Settings.Thinking)}
	for _, m := range messages {
		q.Messages = append(q.Messages, m.Inbound)
	}
	if simple, _ := routing.Simple(q); simple {
		return agent.CheapModel
	}
	return model
}

// Agent returns who takes a turn. If its model cannot be had, the provider says
// why. An error is that of reading the documents, which another run may manage.
func (a *Agents) Agent(ctx context.Context, s chela.Session, t chela.Turn) (turn.Agent, error) {
	f, err := a.frame(frameKey{s.Agent, kindOf(s.Key)})
	f.Window = a.cfg.Providers.Model(t.Model).Window
	if err == nil {
		if f, err = a.told(ctx, s, f); err != nil {
			return turn.Agent{}, err
		}
		if single(t) {
			f.tools, f.Tools, f.ToolTokens = Toolbox{&tool.Set{}}, nil, 0
		}
	}
	agent := turn.Agent{Name: s.Agent, Frame: f.Frame, Tools: f.tools, Policy: a.Rule, Hooks: a.cfg.Hooks, Thinking: cmp.Or(t.Overrides.Thinking, s.Settings.Thinking)}
	if err != nil {
		agent.Provider = providers.Unusable(err)
		return agent, nil
	}
	models := a.cfg.Settings.ModelsOf(s.Agent, t.Model)
	if agent.Provider, agent.Model, err = a.cfg.Providers.ServeAll(models); err != nil {
		agent.Provider = providers.Unusable(err)
	}
	agent.Cheap = func() (chela.Provider, string) { return a.cheap(s.Agent, models) }
	return agent, nil
}

// cheap returns who writes an agent's summaries in place of the model of a turn, if
// somebody does: a cheap model that takes prompts as large. That model itself stands
// in for it, and whoever stands in for that.
func (a *Agents) cheap(name string, models []string) (chela.Provider, string) {
	agent, err := a.cfg.Settings.Agent(name)
	if err != nil || agent.CheapModel == "" || agent.CheapModel == models[0] {
		return nil, ""
	}
	if a.cfg.Providers.Model(agent.CheapModel).Window < a.cfg.Providers.Model(models[0]).Window {
		return nil, ""
	}
	p, model, err := a.cfg.Providers.ServeAll(append([]string{agent.CheapModel}, models...))
	if err != nil {
		return nil, ""
	}
	return p, model
}

// Frame returns the frame of a session's next turn with a model.
func (a *Agents) Frame(ctx context.Context, s chela.Session, model string) (prompt.Frame, error) {
	f, err := a.frame(frameKey{s.Agent, kindOf(s.Key)})
	if err == nil {
		f, err = a.told(ctx, s, f)
	}
	f.Window = a.cfg.Providers.Model(model).Window
	return f.Frame, err
}

// Toolbox returns the tools of an agent in sessions in which people talk to it.
func (a *Agents) Toolbox(agent string) (Toolbox, error) {
	f, err := a.frame(frameKey{agent, chela.KeyMain})
	return f.tools, err
}

// told returns a frame for a turn in a session: its system text ends with what
// the agent's documents say.
func (a *Agents) told(ctx context.Context, s chela.Session, f frame) (frame, error) {
	said, err := a.cfg.Identity(ctx, s.Agent, s.Key)
	if err == nil && said.Text != "" {
		f.System += "\n\n" + said.Text
		f.SystemTokens += said.Tokens
	}
	return f, err
}

// frame returns what the turns of an agent in sessions of a kind share.
func (a *Agents) frame(key frameKey) (frame, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.frames[key]; ok {
		return f, nil
	}
	agent, err := a.cfg.Settings.Agent(key.agent)
	if err != nil {
		return frame{tools: Toolbox{&tool.Set{}}}, err
	}
	tools := slices.DeleteFunc(slices.Clone(a.cfg.Tools), func(t chela.Tool) bool {
		return slices.Contains(agent.Deny, t.Name) || len(agent.Allow) > 0 && !slices.Contains(agent.Allow, t.Name) ||
			!offered(t.Name, key.kind, agent.Subagents.Depth > 1)
	})
	set, err := tool.NewSet(tools...)
	if err != nil {
		return frame{}, err
	}
	f := frame{tools: Toolbox{set}}
	f.Frame = prompt.Frame{System: prompt.System(a.cfg.Settings.Name, prompt.Role(key.kind), agent.Prompt), Tools: set.Specs()}.Counted()
	a.frames[key] = f
	return f, nil
}

// Rule asks the policy about a call. Standing answers are read only where they
// could matter.
func (a *Agents) Rule(ctx context.Context, t chela.Turn, c chela.ToolCall, j chela.Judgement) (turn.Ruling, error) {
	q := policy.Question{
		Tool: c.Tool, Judgement: j, Agent: c.Agent, Channel: t.Origin.Channel, Sender: t.Origin.Sender,
	}
	if key, err := chela.ParseSessionKey(t.Session); err == nil && key.IsGroup() {
		q.Group = key.ID
	}
	d := policy.Decide(a.rules, nil, q)
	if d.Verdict == chela.Ask {
		var grants []chela.Grant
		err := a.cfg.Store.Read(ctx, func(r *store.Read) (err error) {
			if q.Elevated, err = elevated(ctx, r, t); err != nil {
				return err
			}
			grants, err = r.Grants(ctx, c.Agent, t.Session)
			return err
		})
		if err != nil {
			return turn.Ruling{}, err
		}
		d = policy.Decide(a.rules, grants, q)
	}
	return turn.Ruling{Verdict: d.Verdict, Reason: d.Reason}, nil
}

// elevated returns how a turn is elevated: as its message says, else its session
// at this moment. Only the owner's turns can do more for it; less holds for all.
func elevated(ctx context.Context, r *store.Read, t chela.Turn) (string, error) {
	level := t.Overrides.Elevated
	if level == "" {
		s, err := r.Session(ctx, t.Session)
		if err != nil {
			return "", err
		}
		level = s.Settings.Elevated
	}
	if level != "off" && !t.Origin.Owner {
		return "", nil
	}
	return level, nil
}
