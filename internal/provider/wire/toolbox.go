package wire

import (
	"bytes"
	"sync"

	"chela"
)

// maxKnown bounds how many tools are remembered. Agents have a few dozen; those
// that clients offer may be others each time.
const maxKnown = 512

// A Toolbox remembers how tools are written: sessions ask with the same ones
// again and again, and the check of their schemas is most of what it costs. The
// zero Toolbox is empty. It may be used by several goroutines at once.
type Toolbox struct {
	mu    sync.Mutex
	known map[string]written // by the name of the tool; guarded by mu
}

type written struct {
	tool chela.ToolSpec // with a schema of its own, since requests must not be kept
	json []byte
}

// find returns how t is written, or nil if that is not known.
func (b *Toolbox) find(t chela.ToolSpec) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.known[t.Name]
	if !ok || w.tool.Description != t.Description || !bytes.Equal(w.tool.Input, t.Input) {
		return nil
	}
	return w.json
}

// keep remembers how t is written.
func (b *Toolbox) keep(t chela.ToolSpec, raw []byte) {
	t.Input = bytes.Clone(t.Input)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxKnown {
		b.known = map[string]written{}
	}
	b.known[t.Name] = written{t, raw}
}

// Append appends tools with commas between them. What is not remembered is
// written by write, which always writes equal tools in the same way.
func (b *Toolbox) Append(body []byte, tools []chela.ToolSpec, write func(chela.ToolSpec) ([]byte, error)) ([]byte, error) {
	for i, t := range tools {
		raw := b.find(t)
		if raw == nil {
			var err error
			if raw, err = write(t); err != nil {
				return nil, err
			}
			b.keep(t, raw)
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, raw...)
	}
	return body, nil
}
