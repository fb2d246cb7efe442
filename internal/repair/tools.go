package repair

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/store"
)

// maxDoublings is how often the time until the next probe doubles.
const maxDoublings = 6

// maxError is how much is kept of what went wrong, in bytes.
const maxError = 300

// wards is what a process knows of the tools that are not well. The store is the
// truth; what other processes find is learned with the next failure here.
type wards struct {
	mu      sync.Mutex
	loaded  bool                        // guarded by mu, like all below
	ill     map[string]chela.ToolHealth // with failures
	probing map[string]bool
}

// Watch returns a tool that is turned off while it keeps failing by its own fault.
// A call of one that is off is a failed result that says so.
func (k *Keeper) Watch(t chela.Tool) chela.Tool {
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
		case err == nil && !res.Failed: // one that was asked for nonsense says nothing of itself
			k.worked(ctx, t.Name)
		}
		return res, err
	}
	return t
}

// faultOf returns what went wrong with a call, and whether that is the fault of the
// tool: not of what it was asked, nor of a store that does not work, nor of whoever
// stopped it.
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

func refusal(h chela.ToolHealth) chela.ToolResult {
	return chela.ToolResult{Failed: true, Text: fmt.Sprintf(
		"%s is turned off: it failed %d times in a row by its own fault, not by yours (%s). Do it in another way, or say that it cannot be done now. One call is let through after %s to see whether it works again.",
		h.Tool, h.Failures, h.Error, h.ProbeAt.UTC().Format(time.RFC3339))}
}

// enter returns how a tool does if it may not run, and otherwise whether this call
// is the one that probes it.
func (k *Keeper) enter(ctx context.Context, tool string) (off chela.ToolHealth, probe bool) {
	k.load(ctx)
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	h, ill := k.wards.ill[tool]
	switch {
	case !ill || h.DisabledAt.IsZero():
		return chela.ToolHealth{}, false
	case k.cfg.Now().Before(h.ProbeAt) || k.wards.probing[tool]:
		return h, false
	}
	k.wards.probing[tool] = true
	return chela.ToolHealth{}, true
}

func (k *Keeper) leave(tool string, probe bool) {
	if !probe {
		return
	}
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	delete(k.wards.probing, tool)
}

// load reads once which tools are not well. Until that works, all are taken for
// well.
func (k *Keeper) load(ctx context.Context) {
	k.wards.mu.Lock()
	loaded := k.wards.loaded
	k.wards.mu.Unlock()
	if loaded {
		return
	}
	ill, err := store.Find(ctx, k.store, func(r *store.Read) ([]chela.ToolHealth, error) { return r.IllTools(ctx) })
	if err != nil {
		k.cfg.Log.Warn("tools that are off are not known", "error", err)
		return
	}
	k.wards.mu.Lock()
	defer k.wards.mu.Unlock()
	if k.wards.loaded {
		return
	}
	k.wards.loaded = true
	k.wards.ill, k.wards.probing = map[string]chela.ToolHealth{}, map[string]bool{}
	for _, h := range ill {
		k.wards.ill[h.Tool] = h
	}
}

// failed counts a failure. The call has ended, so it is counted whatever becomes
// of its turn.
func (k *Keeper) failed(ctx context.Context, tool, why string) {
	k.change(context.WithoutCancel(ctx), tool, func(h chela.ToolHealth) (chela.ToolHealth, string) { return failed(h, why, k.cfg) })
}

// worked notes that a tool that was not well works.
func (k *Keeper) worked(ctx context.Context, tool string) {
	k.wards.mu.Lock()
	_, ill := k.wards.ill[tool]
	k.wards.mu.Unlock()
	if !ill {
		return
	}
	k.change(context.WithoutCancel(ctx), tool, func(h chela.ToolHealth) (chela.ToolHealth, string) { return worked(h, k.cfg) })
}
