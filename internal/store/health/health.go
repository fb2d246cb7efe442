// Package health keeps how tools do.
package health

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads how tools do.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads how tools do.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes how tools do.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes how tools do.
func Writing(tx rows.Tx) Write { return Write{tx} }

const columns = `tool, failures, disabled_at, probe_at, probes, error, updated_at`

func scan(row engine.Row) (h chela.ToolHealth, err error) {
	err = row.Scan(&h.Tool, &h.Failures, rows.Time(&h.DisabledAt), rows.Time(&h.ProbeAt), &h.Probes, &h.Error, rows.Time(&h.UpdatedAt))
	return h, err
}

// ToolHealth returns how a tool does; one of which nothing is known is well.
func (r Read) ToolHealth(ctx context.Context, tool string) (chela.ToolHealth, error) {
	h, ok, err := rows.First(ctx, r.tx, scan, `select `+columns+` from tool_health where tool = $1`, tool)
	if err == nil && !ok {
		h.Tool = tool
	}
	return h, err
}

// IllTools returns the tools whose newest calls failed, by name.
func (r Read) IllTools(ctx context.Context) ([]chela.ToolHealth, error) {
	return rows.All(ctx, r.tx, scan, `select `+columns+` from tool_health where failures > 0 order by tool`)
}

// SaveToolHealth stores how a tool does.
func (w Write) SaveToolHealth(ctx context.Context, h chela.ToolHealth) error {
	return w.tx.Must(ctx, `insert into tool_health (`+columns+`) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (tool) do update set failures = $2, disabled_at = $3, probe_at = $4, probes = $5, error = $6, updated_at = $7`,
		h.Tool, h.Failures, rows.Micros(h.DisabledAt), rows.Micros(h.ProbeAt), h.Probes, h.Error, rows.Micros(h.UpdatedAt))
}

// LockToolHealth returns how a tool does and keeps its row locked until the
// transaction ends, so that two processes count one after the other.
func (w Write) LockToolHealth(ctx context.Context, tool string) (chela.ToolHealth, error) {
	if err := w.tx.Must(ctx, `insert into tool_health (`+columns+`) values ($1, 0, 0, 0, 0, '', 0) on conflict (tool) do nothing`, tool); err != nil {
		return chela.ToolHealth{}, err
	}
	return rows.One(ctx, w.tx, scan, "tool", tool, `update tool_health set tool = tool where tool = $1 returning `+columns, tool)
}
