package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
	"chela/internal/store"
)

// help lists the commands, or explains one, or a job.
func (i *Interpreter) help(ctx context.Context, g given) (lane.Command, error) {
	if strings.HasPrefix(g.args, "job_") && g.Origin.Owner {
		return i.jobs(ctx, g)
	}
	if g.args != "" {
		name := strings.TrimPrefix(g.args, "/")
		f, ok := FindForm(name)
		if !ok {
			return nil, UnknownCommand(name)
		}
		return reply(explained(f)), nil
	}
	lines := []string{"Commands:"}
	for _, f := range Forms() {
		if f.Open || g.Origin.Owner {
			lines = append(lines, "- "+f.Usage()+": "+f.Help)
		}
	}
	return reply(strings.Join(append(lines, "Settings hold for one message with a text behind them, and alone for the session. //text sends /text to the agent."), "\n")), nil
}

func explained(f Form) string {
	text := f.Usage() + " " + f.Help + "."
	if f.More != "" {
		text += "\n" + f.More
	}
	if len(f.Values) > 0 {
		text += "\nIt can be " + OneOf(f.Values) + ", or default."
	}
	if len(f.Aliases) > 0 {
		text += "\nAlso: /" + strings.Join(f.Aliases, ", /")
	}
	if !f.Open {
		text += "\nFor the owner."
	}
	return text
}

// lines is a list of names and values; those without a value are left out.
type lines []string

func (l *lines) add(name, format string, args ...any) {
	if value := fmt.Sprintf(format, args...); value != "" {
		*l = append(*l, "- "+name+": "+value)
	}
}

func (l lines) order() (lane.Command, error) { return reply(strings.Join(l, "\n")), nil }

// A standing is the running and queued work of a session.
type standing struct {
	live      []chela.Turn
	waiting   int
	approvals []chela.Approval
	lane      store.Lane
}

func (i *Interpreter) standing(ctx context.Context, key chela.SessionKey) (s standing, err error) {
	err = i.store.Read(ctx, func(r *store.Read) (err error) {
		if s.live, err = r.LiveTurns(ctx, key); err != nil {
			return err
		}
		if s.waiting, err = r.CountWaiting(ctx, key); err != nil {
			return err
		}
		if s.approvals, err = r.PendingApprovals(ctx, key); err != nil {
			return err
		}
		s.lane, err = r.Lane(ctx, key)
		if chela.KindOf(err) == chela.NotFound {
			err = nil
		}
		return err
	})
	return s, err
}

// status shows the settings of a session and its running and queued work.
func (i *Interpreter) status(ctx context.Context, g given) (lane.Command, error) {
	s, err := i.standing(ctx, g.Session)
	if err != nil {
		return nil, err
	}
	var l lines
	l.add("session", "%s", g.Session)
	l.add("thread", "%s", threadLine(g.thread))
	for _, name := range []string{Model, Think, Verbose, Reasoning, Elevated, Queue} {
		l.add(name, "%s", i.valueOf(name, g.session, g.Inbound))
	}
	for _, t := range s.live {
		l.add("turn", "%s, %s since %s", t.ID, plain(string(t.State)), lasting(i.cfg.Now().Sub(t.CreatedAt)))
	}
	if len(s.live) == 0 {
		l.add("turn", "none runs")
	}
	if s.waiting > 0 {
		l.add("waiting messages", "%d", s.waiting)
	}
	for _, a := range s.approvals {
		l.add("waits for a yes", "%s", questionLine(a))
	}
	l.add("version", "%s", i.cfg.Version)
	return l.order()
}

// plain is a state as people say it.
func plain(state string) string { return strings.ReplaceAll(state, "_", " ") }

// lasting is a time as people say it.
func lasting(d time.Duration) string { return max(d, 0).Round(time.Second).String() }

func (i *Interpreter) whoami(_ context.Context, g given) (lane.Command, error) {
	var l lines
	who := "a guest"
	if g.Origin.Owner {
		who = "the owner"
	}
	l.add("you", "%s", who)
	l.add("name", "%s", g.Origin.Sender)
	l.add("channel", "%s", g.Origin.Channel)
	l.add("account", "%s", g.Origin.Account)
	l.add("session", "%s", g.Session)
	l.add("agent", "%s", g.session.Agent)
	return l.order()
}

func (i *Interpreter) ping(context.Context, given) (lane.Command, error) { return reply("pong"), nil }

func (i *Interpreter) version(context.Context, given) (lane.Command, error) {
	if i.cfg.Version == "" {
		return reply("chela, built without a version"), nil
	}
	return reply("chela " + i.cfg.Version), nil
}

func (i *Interpreter) quit(_ context.Context, g given) (lane.Command, error) {
	return reply("There is nothing to leave in " + g.Origin.Channel + "."), nil
}

// tools lists the tools of the agent, each with the first line of what its model
// reads about it.
func (i *Interpreter) tools(ctx context.Context, g given) (lane.Command, error) {
	all, err := api.All(ctx, i.api(g), api.ToolsList, api.ToolsQuery{Agent: g.session.Agent, Limit: api.MaxPage})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return reply("The agent has no tools."), nil
	}
	var l lines
	for _, t := range all {
		about, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		l.add(t.Name, "%s", about)
	}
	return l.order()
}

// promptSize shows the size of the thread's next prompt, part by part.
func (i *Interpreter) promptSize(ctx context.Context, g given) (lane.Command, error) {
	if g.thread.ID == "" {
		return reply("The thread is empty, so there is no prompt."), nil
	}
	size, err := api.Call(ctx, i.api(g), api.ThreadsPrompt, api.ThreadRef{ID: g.thread.ID})
	if err != nil {
		return nil, err
	}
	var l lines
	l.add("model", "%s", size.Model)
	l.add("room", "%d tokens, of a window of %d", size.Room, size.Window)
	for _, part := range []struct {
		name   string
		tokens int
	}{
		{"system", size.System},
		{"tools", size.Tools},
		{"summary", size.Summary},
		{"user", size.User},
		{"assistant", size.Assistant},
		{"results of tools", size.Tool},
	} {
		if part.tokens > 0 {
			l.add(part.name, "%d", part.tokens)
		}
	}
	l.add("in all", "%s, %d %% of the room", inAll(size), 100*size.Total/max(size.Room, 1))
	return l.order()
}

// inAll is the number of tokens of a prompt. It notes if the provider was
// observed to count differently from the estimates above.
func inAll(size api.PromptSize) string {
	if size.Ratio == 0 || size.Ratio == 1 {
		return strconv.Itoa(size.Total)
	}
	return fmt.Sprintf("about %d as the provider counts, which is %.2f times the sum of these", size.Total, size.Ratio)
}

// usage shows the spending, and the rest of the limits.
func (i *Interpreter) usage(ctx context.Context, g given) (lane.Command, error) {
	y, m, d := i.cfg.Now().In(i.cfg.Zone).Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, i.cfg.Zone)
	var l lines
	err := i.store.Read(ctx, func(r *store.Read) error {
		l = lines{}
		for _, sum := range []struct {
			name  string
			key   chela.SessionKey
			since time.Time
		}{
			{"this session today", g.Session, day}, {"this session in all", g.Session, time.Time{}}, {"the home today", "", day},
		} {
			spent, err := r.UsageSince(ctx, sum.key, sum.since)
			if err != nil {
				return err
			}
			l.add(sum.name, "%s", spentOf(spent))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	budgets, err := api.All(ctx, i.api(g), api.UsageLimits, api.LimitsQuery{Session: g.Session, Limit: api.MaxPage})
	if err != nil {
		return nil, err
	}
	for _, b := range budgets {
		left, most := chela.MicroUSD(b.Left()).String(), chela.MicroUSD(b.Most).String()
		if b.Limit == chela.LimitActions {
			left, most = strconv.FormatInt(b.Left(), 10), strconv.FormatInt(b.Most, 10)
		}
		l.add(string(b.Limit), "%s left of %s", left, most)
	}
	return l.order()
}

// spentOf formats spending for people.
func spentOf(s chela.UsageSum) string {
	text := tokens(s.Tokens)
	switch {
	case s.Guessed > 0:
		text = "~" + s.Cost.String() + ", " + text
	case s.Cost > 0:
		text = s.Cost.String() + ", " + text
	}
	return text
}

func tokens(u chela.TokenUsage) string {
	text := fmt.Sprintf("%d tokens in, %d out", u.Input+u.CacheRead+u.CacheWrite, u.Output)
	if u.CacheRead > 0 {
		text += fmt.Sprintf(" (%d of those in were read from a cache)", u.CacheRead)
	}
	return text
}

// debug shows the ids of the conversation, for readers of the journal.
func (i *Interpreter) debug(ctx context.Context, g given) (lane.Command, error) {
	s, err := i.standing(ctx, g.Session)
	if err != nil {
		return nil, err
	}
	var l lines
	l.add("session", "%s", g.Session)
	l.add("thread", "%s", g.thread.ID)
	l.add("thread state", "%s", g.thread.State)
	l.add("head", "%s", g.thread.Head)
	l.add("entries", "%d", g.thread.Seq)
	l.add("lane", "holder %s, token %d, turn %s, %d arrivals", orNone(string(s.lane.Owner)), s.lane.Token, orNone(string(s.lane.Turn)), s.lane.Arrivals)
	for _, t := range s.live {
		l.add("turn", "%s %s, step %d, %d crashes", t.ID, t.State, t.Steps, t.Crashes)
	}
	l.add("waiting messages", "%d", s.waiting)
	l.add("database", "%s", i.store.Engine())
	l.add("message", "%s", g.MessageID)
	return l.order()
}

func orNone(id string) string {
	if id == "" {
		return "none"
	}
	return id
}
