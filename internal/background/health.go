package background

import (
	"context"
	"fmt"

	"chela/internal/store"
)

// failed returns the health of a tool after a failure, and the notice to the
// owner; "" for none.
func failed(h store.ToolHealth, why string, cfg supervisorConfig) (store.ToolHealth, string) {
	now := cfg.Now()
	h.Failures++
	h.Error, h.UpdatedAt = why, now
	switch {
	case !h.DisabledAt.IsZero():
		h.Probes++
		h.ProbeAt = now.Add(cfg.ProbeAfter << min(h.Probes, maxDoublings))
		if h.Probes == 1 {
			return h, fmt.Sprintf("tool %s still fails (%s): %s. It is probed periodically; rebuilding tools is not supported.", h.Tool, why, manualRequired)
		}
	case h.Failures >= cfg.ToolFailures:
		h.DisabledAt, h.ProbeAt = now, now.Add(cfg.ProbeAfter)
		return h, fmt.Sprintf("tool %s is turned off: it failed %d times in a row (%s). It is tried again in %s.", h.Tool, h.Failures, why, cfg.ProbeAfter)
	}
	return h, ""
}

// worked returns the health of a tool after a success, and the notice to the
// owner.
func worked(h store.ToolHealth, cfg supervisorConfig) (store.ToolHealth, string) {
	told := ""
	if !h.DisabledAt.IsZero() {
		told = fmt.Sprintf("tool %s works again and is turned on: %s.", h.Tool, success)
	}
	return store.ToolHealth{Tool: h.Tool, UpdatedAt: cfg.Now()}, told
}

// change updates the stored health of a tool and notifies the owner. A failed
// write is logged and does not fail the call.
func (k *supervisor) change(ctx context.Context, tool string, then func(store.ToolHealth) (store.ToolHealth, string)) {
	var after store.ToolHealth
	err := k.store.Tell(ctx, "tool.health", k.cfg.Emit, func(w *store.Write) error {
		before, err := w.LockToolHealth(ctx, tool)
		if err != nil {
			return err
		}
		told := ""
		after, told = then(before)
		if err := w.SaveToolHealth(ctx, after); err != nil || told == "" {
			return err
		}
		return k.cfg.Tell(ctx, w, repairNotice{Key: fmt.Sprintf("tool/%s/%d/%d", tool, after.UpdatedAt.UnixMicro(), after.Failures), Text: told, Tool: tool, Pushed: true})
	})
	if err != nil {
		k.cfg.Log.Warn("tool health not stored", "tool", tool, "error", err)
		return
	}
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	if k.wards.ill == nil { // the health table was never loaded
		return
	}
	if after.Failures == 0 {
		delete(k.wards.ill, tool)
	} else {
		k.wards.ill[tool] = after
	}
}
