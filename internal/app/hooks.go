package app

import (
	"chela"
	"chela/internal/config/hooks"
	"chela/internal/hook"
	"chela/internal/session"
)

// makeHooks makes the hooks of the configuration.
func (a *App) makeHooks() (*hook.Hooks, error) {
	specs := make([]hook.Spec, len(a.cfg.Hooks))
	for i, h := range a.cfg.Hooks {
		specs[i] = hook.Spec{
			Name: h.Name, Point: h.Point, Tool: h.Tool, Agent: h.Agent, Channel: h.Channel,
			Match: h.Match, Replace: h.Replace, Reject: h.Action == hooks.Reject, Reason: h.Reason,
			Command: h.Command, URL: h.URL, Timeout: h.Timeout, Open: h.OnError == hooks.Open,
		}
	}
	return hook.New(specs, hook.Config{Now: a.now, Emit: a.bus.Emit, Log: a.log, Dir: string(a.cfg.Home)})
}

// emit announces an event of a lane or a turn, and tells hooks of a conversation
// that began: its first turn announces that its session changed.
func (a *App) emit(e chela.Event) {
	a.doing.Hear(e)
	a.bus.Emit(e)
	a.background.Heard(e)
	if e.Kind == chela.EventSessionChanged && e.Turn != "" {
		a.hooks.Passed(chela.HookSessionStart, e.Session, e.Thread, "")
	}
}

// ended tells hooks of a conversation that ended.
func (a *App) ended(e session.End) {
	a.hooks.Passed(chela.HookSessionEnd, e.Session, e.Thread, string(e.Reason))
}
