package background

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

// maxDoublings bounds the doublings of the probe interval.
const maxDoublings = 6

// maxError bounds the stored error text, in bytes.
const maxError = 300

// wards caches the health of failing tools in this process. The store is
// authoritative; findings of other processes are read at the next failure here.
type wards struct {
	mu      sync.Mutex
	ill     map[string]store.ToolHealth // guarded by mu; tools with failures; nil until they are loaded
	probing map[string]bool             // guarded by mu
}

// Watch wraps a tool with a circuit breaker: it is turned off while it keeps
// failing by its own fault. A call of a tool that is off returns a failed
// result that says so.
func (k *supervisor) Watch(t chela.Tool) chela.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, call chela.ToolCall) (chela.ToolResult, error) {
		off, probe := k.enter(ctx, t.Name)
		if off.Tool != "" {
			return refusal(off), nil
		}
		res, err := run(ctx, call)
		k.leave(t.Name, probe)
		switch why, faulty := faultOf(ctx, res, err); {
		case faulty:
			k.failed(ctx, t.Name, why)
		case err == nil && !res.Failed: // a rejected call neither proves nor disproves the tool
			k.worked(ctx, t.Name)
		}
		return res, err
	}
	return t
}

// faultOf returns the failure of a call, and whether the tool is at fault,
// rather than the arguments, the store or a cancellation.
func faultOf(ctx context.Context, res chela.ToolResult, err error) (why string, faulty bool) {
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, chela.ErrLater)):
		return "", false
	case err != nil:
		why = chela.MessageOf(err)
	case res.Failed && res.Faulty:
		why = res.Text
	default:
		return "", false
	}
	return excerpt.Marked(why, maxError), true
}

func refusal(h store.ToolHealth) chela.ToolResult {
	return chela.ToolResult{Failed: true, Text: fmt.Sprintf(
		"%s is turned off: it failed %d times in a row by its own fault, not by yours (%s). Find another way, or report that this cannot be done now. After %s one call is let through as a probe.",
		h.Tool, h.Failures, h.Error, h.ProbeAt.UTC().Format(time.RFC3339))}
}

// enter returns the health of a tool if the call is refused; otherwise it tells
// whether this call is the probe.
func (k *supervisor) enter(ctx context.Context, tool string) (off store.ToolHealth, probe bool) {
	k.load(ctx)
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	h, ill := k.wards.ill[tool]
	switch {
	case !ill || h.DisabledAt.IsZero():
		return store.ToolHealth{}, false
	case k.cfg.Now().Before(h.ProbeAt) || k.wards.probing[tool]:
		return h, false
	}
	k.wards.probing[tool] = true
	return store.ToolHealth{}, true
}

func (k *supervisor) leave(tool string, probe bool) {
	if !probe {
		return
	}
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	delete(k.wards.probing, tool)
}

// load reads the failing tools once. Until it succeeds, all tools count as
// healthy.
func (k *supervisor) load(ctx context.Context) {
	k.wards.mu.Lock()
	loaded := k.wards.ill != nil
	k.wards.mu.Unlock()
	if loaded {
		return
	}
	ill, err := store.Find(ctx, k.store, func(r *store.Read) ([]store.ToolHealth, error) { return r.IllTools(ctx) })
	if err != nil {
		k.cfg.Log.Warn("tool health not loaded", "error", err)
		return
	}
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	if k.wards.ill != nil {
		return
	}
	k.wards.ill, k.wards.probing = map[string]store.ToolHealth{}, map[string]bool{}
	for _, h := range ill {
		k.wards.ill[h.Tool] = h
	}
}

// failed counts a failure. The call has ended, so the failure counts even if
// its turn is cancelled.
func (k *supervisor) failed(ctx context.Context, tool, why string) {
	k.change(context.WithoutCancel(ctx), tool, func(h store.ToolHealth) (store.ToolHealth, string) { return failed(h, why, k.cfg) })
}

// worked records a success of a tool that had failures.
func (k *supervisor) worked(ctx context.Context, tool string) {
	k.wards.mu.Lock()
	_, ill := k.wards.ill[tool]
	k.wards.mu.Unlock()
	if !ill {
		return
	}
	k.change(context.WithoutCancel(ctx), tool, func(h store.ToolHealth) (store.ToolHealth, string) { return worked(h, k.cfg) })
}
