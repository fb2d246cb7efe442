package store

import (
	"context"
	"time"
)

// A ToolHealth holds a tool's failure counters and circuit-breaker state.
type ToolHealth struct {
	Tool       string    `json:"tool"`
	Failures   int       `json:"failures"`             // consecutive failures of the tool itself
	DisabledAt time.Time `json:"disabled_at,omitzero"` // when it was disabled; only probes run since then
	ProbeAt    time.Time `json:"probe_at,omitzero"`    // when the next call is let through as a probe
	Probes     int       `json:"probes,omitempty"`     // failed probes since then
	Error      string    `json:"error,omitempty"`      // newest failure
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
}

var healthTable = tableOf[ToolHealth]("tool", "tool_health", `tool failures disabled_at probe_at probes error updated_at`)

// ToolHealth returns a tool's failure counters; an unknown tool counts as
// healthy.
func (r *Read) ToolHealth(ctx context.Context, tool string) (ToolHealth, error) {
	h, ok, err := healthTable.first(ctx, r.tx, `where tool = $1`, tool)
	if err == nil && !ok {
		h.Tool = tool
	}
	return h, err
}

// IllTools returns the tools whose newest calls failed, by name.
func (r *Read) IllTools(ctx context.Context) ([]ToolHealth, error) {
	return healthTable.all(ctx, r.tx, `where failures > 0 order by tool`)
}

// SaveToolHealth stores a tool's failure counters.
func (w *Write) SaveToolHealth(ctx context.Context, h ToolHealth) error {
	return w.tx.Must(ctx, healthTable.insert+`
		on conflict (tool) do update set failures = $2, disabled_at = $3, probe_at = $4, probes = $5, error = $6, updated_at = $7`,
		healthTable.args(h)...)
}

// LockToolHealth returns a tool's failure counters and locks the row until the
// transaction ends, so that processes count one after the other.
func (w *Write) LockToolHealth(ctx context.Context, tool string) (ToolHealth, error) {
	if err := w.tx.Must(ctx, healthTable.insert+` on conflict (tool) do nothing`, healthTable.args(ToolHealth{Tool: tool})...); err != nil {
		return ToolHealth{}, err
	}
	return healthTable.lock(ctx, w.tx, tool, "tool")
}
