package background

import (
	"cmp"
	"context"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/config"
	"chela/internal/store"
)

// heartbeatPrompt is the default prompt of a heartbeat.
const heartbeatPrompt = `This is your heartbeat: look around unasked. The document below says what to look at; do what it says, and nothing that it does not say. Older conversations are no reason to do anything.
If something needs your person's attention now, tell it with the tool report. If nothing does, answer HEARTBEAT_OK.`

// heartbeatName is the name of an agent's heartbeat.
func heartbeatName(agent string) string {
	if agent == chela.MainAgent {
		return "heartbeat"
	}
	return "heartbeat-" + agent
}

// heartbeat is the builtin routine of an agent's periodic check, as configured.
func (b *Background) heartbeat(agent string) (chela.Routine, error) {
	set := b.cfg.Settings
	h := set.Heartbeat
	who, err := set.Agent(agent)
	v := chela.Routine{
		Name: heartbeatName(agent), Agent: agent, Enabled: h.Enabled, Description: "checks in periodically, as HEARTBEAT.md says",
		Origin: chela.Origin{Owner: true}, Session: chela.MainKey(agent),
		Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(h.Every), Missed: chela.MissedOnce},
		Action: chela.RoutineAction{
			Kind: chela.ActionTurn, Text: cmp.Or(h.Prompt, heartbeatPrompt), Documents: []string{chela.DocHeartbeat},
			Main: h.Session == config.HeartbeatMain, Model: cmp.Or(h.Model, who.CheapModel), Post: chela.PostNone,
		},
		Guards: chela.RoutineGuards{ActiveHours: h.ActiveHours, Idle: true, Unless: chela.DocHeartbeat},
		Notify: chela.RoutineNotify{
			Policy: chela.NotifyConditional, AfterFailures: h.Failures, Disable: -1, AckMax: h.AckMax, Repeat: chela.Span(h.RepeatAfter),
		},
	}
	switch h.Target {
	case config.TargetLast:
		v.Notify.Target = chela.TargetLast
	case config.TargetNone:
		v.Notify.Target = chela.TargetNone
	default:
		v.Notify.Target, v.Notify.Channel, v.Notify.To = chela.TargetExplicit, h.Target, h.To
	}
	return v, err
}

// keepHeartbeats updates the heartbeats to the configuration, and removes the
// heartbeats of agents without one.
func (b *Background) keepHeartbeats(ctx context.Context) error {
	wanted := map[string]bool{}
	for _, agent := range b.cfg.Settings.Heartbeat.Agents {
		v, err := b.heartbeat(agent)
		if err == nil {
			_, err = b.routines.Keep(ctx, v)
		}
		if err != nil {
			return err
		}
		wanted[v.Name] = true
	}
	all, err := b.routines.Routines(ctx)
	for _, v := range all {
		if err == nil && v.Builtin && !wanted[v.Name] {
			v.Enabled = false
			_, err = b.routines.Keep(ctx, v)
		}
	}
	return err
}

// hygiene is the work of deleting expired documents from all agents' memories.
const hygiene = "hygiene"

// hygieneTime is the interval of hygiene.
const hygieneTime = 12 * time.Hour

func (b *Background) hygieneKind() work.Kind {
	return work.Kind{Name: hygiene, Attempts: work.Forever, Handle: func(ctx context.Context, _ chela.Work) (work.Outcome, error) {
		for _, agent := range b.cfg.Settings.AgentNames() {
			n, err := b.cfg.Tidy(ctx, agent)
			if err != nil {
				return work.Outcome{}, err
			}
			if n > 0 {
				b.cfg.Log.Info("old daily logs deleted", "agent", agent, "documents", n)
			}
		}
		return work.Outcome{Again: b.cfg.Now().Add(hygieneTime)}, nil
	}}
}

// tend enqueues hygiene periodically.
func (b *Background) tend(ctx context.Context) error {
	return b.cfg.Store.Write(ctx, "hygiene.add", func(w *store.Write) error {
		_, err := b.work.Add(ctx, w, chela.Work{Kind: hygiene, Key: hygiene, DueAt: b.cfg.Now().Add(hygieneTime)})
		return err
	})
}
