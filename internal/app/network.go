package app

import (
	"context"

	"chela"
	"chela/internal/config"
	"chela/internal/platform/excerpt"
	"chela/internal/safety/egress"
	"chela/internal/tool/shell"
)

// network returns the network of commands. An unconfined command has that of the
// machine, whatever its call says.
func (a *App) network() (n shell.Network, err error) {
	cfg := a.cfg.Sandbox
	n.Policy.Mode, n.Secrets = cfg.Network, a.secrets
	n.Policy.Mirrors = a.tools.Registries().Mirrors
	for _, text := range cfg.NetworkHosts {
		rule, err := egress.ParseRule(text)
		if err != nil {
			return n, err
		}
		n.Policy.Rules = append(n.Policy.Rules, rule)
	}
	if n.Unconfined = cfg.Mode == config.SandboxOff; n.Unconfined {
		n.Policy = egress.Policy{Mode: egress.Listed, Rules: []egress.Rule{{Host: "*:*"}}}
	}
	proxy := egress.New(a.dialer.Dial, egress.Options{Now: a.now, Log: a.log})
	n.Begin = func(_ context.Context, call chela.ToolCall, c egress.Config) (*egress.Run, error) {
		record := c.Record
		c.Record = func(r egress.Record) {
			record(r)
			a.logRequest(call, r)
		}
		c.Limits.Bytes = int64(cfg.NetworkSize) * mib
		return proxy.Begin(c), nil
	}
	return n, nil
}

// maxLoggedPath limits the path of a request in the log, in bytes.
const maxLoggedPath = 300

// logRequest writes a request of a command to the log: never its query, and
// sentinels in place of secrets.
func (a *App) logRequest(call chela.ToolCall, r egress.Record) {
	a.log.Info("command used the network",
		"session", call.Session, "turn", call.Turn, "call", call.ID, "method", r.Method, "host", r.Host, "path", excerpt.Bytes(r.Path, maxLoggedPath),
		"status", r.Status, "sent", r.Sent, "received", r.Received, "secrets", r.Secrets, "refused", r.Refused)
}
