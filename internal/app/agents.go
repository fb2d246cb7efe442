package app

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"chela"
	"chela/internal/config"
	"chela/internal/hook"
	"chela/internal/memory"
	"chela/internal/policy"
	"chela/internal/prompt"
	"chela/internal/provider"
	"chela/internal/store"
	"chela/internal/tool"
	"chela/internal/turn"
)

// agents makes the agents that take turns.
type agents struct {
	cfg   *config.Config
	store *store.Store
	tools []chela.Tool
	hooks *hook.Hooks
	rules []policy.Rule

	// identity returns what an agent's documents add to the system text of a
	// turn in a session.
	identity func(ctx context.Context, agent string, session chela.SessionKey) (memory.Identity, error)

	mu        sync.Mutex
	providers map[string]served // guarded by mu; by model
	frames    map[string]frame  // guarded by mu; by agent
}

// A served model is a provider as it was made, and as turns use it.
type served struct {
	raw  chela.Provider
	used chela.Provider // tries again where that may help
	name string         // the model as the provider knows it
}

// A frame is what an agent's turns share.
type frame struct {
	prompt.Frame
	tools toolbox
}

func newAgents(cfg *config.Config, s *store.Store, tools []chela.Tool, hooks *hook.Hooks) *agents {
	a := &agents{cfg: cfg, store: s, tools: tools, hooks: hooks, providers: map[string]served{}, frames: map[string]frame{}}
	for _, r := range cfg.Policy {
		a.rules = append(a.rules, policy.Rule(r))
	}
	return a
}

// model returns the model of a new turn: the message's, the session's, the
// agent's or the home's.
func (a *agents) model(s chela.Session, in chela.Inbound) string {
	agent, _ := a.cfg.Agent(s.Agent) // one that is not configured has no model of its own
	return cmp.Or(in.Model, s.Settings.Model, agent.Model, a.cfg.Model)
}

// agent returns who takes a turn. If its model cannot be had, the provider says
// why. An error is that of reading the documents, which another run may manage.
func (a *agents) agent(ctx context.Context, s chela.Session, t chela.Turn) (turn.Agent, error) {
	f, err := a.frame(s.Agent)
	f.Window = a.window(t.Model)
	if err == nil {
		if f, err = a.told(ctx, s, f); err != nil {
			return turn.Agent{}, err
		}
	}
	agent := turn.Agent{Name: s.Agent, Frame: f.Frame, Tools: f.tools, Policy: a.rule, Hooks: a.hooks, Thinking: cmp.Or(t.Overrides.Thinking, s.Settings.Thinking)}
	if err != nil {
		agent.Provider = unusable{err}
		return agent, nil
	}
	p, err := a.serve(t.Model)
	if err != nil {
		p.used = unusable{err}
	}
	agent.Provider, agent.Model = p.used, p.name
	return agent, nil
}

// told returns a frame for a turn in a session: its system text ends with what
// the agent's documents say.
func (a *agents) told(ctx context.Context, s chela.Session, f frame) (frame, error) {
	said, err := a.identity(ctx, s.Agent, s.Key)
	if err == nil && said.Text != "" {
		f.System += "\n\n" + said.Text
		f.SystemTokens += said.Tokens
	}
	return f, err
}

// serve returns the provider of a model.
func (a *agents) serve(model string) (served, error) {
	settings, name, err := a.cfg.Resolve(model)
	if err != nil {
		return served{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.providers[model]; ok {
		return p, nil
	}
	raw, err := makeProvider(settings, name)
	if err != nil {
		return served{}, err
	}
	plain := provider.Fallback(raw)
	p := served{raw: raw, used: provider.Retry(plain, provider.Config{Wait: wait, Random: rand.Float64}), name: name}
	a.providers[model] = p
	return p, nil
}

// wait returns after d, or earlier with ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// frame returns what the turns of an agent share.
func (a *agents) frame(name string) (frame, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.frames[name]; ok {
		return f, nil
	}
	agent, err := a.cfg.Agent(name)
	if err != nil {
		return frame{tools: toolbox{&tool.Set{}}}, err
	}
	offered := slices.DeleteFunc(slices.Clone(a.tools), func(t chela.Tool) bool {
		return slices.Contains(agent.Deny, t.Name) || len(agent.Allow) > 0 && !slices.Contains(agent.Allow, t.Name)
	})
	set, err := tool.NewSet(offered...)
	if err != nil {
		return frame{}, err
	}
	f := frame{tools: toolbox{set}}
	f.Frame = prompt.Frame{System: prompt.System(a.cfg.Name, agent.Prompt), Tools: set.Specs()}.Counted()
	a.frames[name] = f
	return f, nil
}

// rule asks the policy about a call. Standing answers are read only where they
// could matter.
func (a *agents) rule(ctx context.Context, t chela.Turn, c chela.ToolCall, j chela.Judgement) (turn.Ruling, error) {
	q := policy.Question{
		Tool: c.Tool, Judgement: j, Agent: c.Agent, Channel: t.Origin.Channel, Sender: t.Origin.Sender,
	}
	if key, err := chela.ParseSessionKey(t.Session); err == nil && key.IsGroup() {
		q.Group = key.ID
	}
	d := policy.Decide(a.rules, nil, q)
	if d.Verdict == chela.Ask {
		var grants []chela.Grant
		err := a.store.Read(ctx, func(r *store.Read) (err error) {
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
