package wire

import (
	"bytes"
	"sync"

	"chela"
)

// maxKnown bounds the cached tools. Agents have a few dozen; tools offered by
// clients may differ each time.
const maxKnown = 512

// A Toolbox caches the JSON of tools: sessions send the same tools again and
// again, and checking their schemas dominates the cost. The zero Toolbox is
// empty. It is safe for concurrent use.
type Toolbox struct {
	mu    sync.Mutex
	known map[string]written // by the name of the tool; guarded by mu
}

type written struct {
	tool chela.ToolSpec // with its own copy of the schema, since requests must not be retained
	json []byte
}

// find returns the cached JSON of t, or nil.
func (b *Toolbox) find(t chela.ToolSpec) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.known[t.Name]
	if !ok || w.tool.Description != t.Description || !bytes.Equal(w.tool.Input, t.Input) {
		return nil
	}
	return w.json
}

// keep caches the JSON of t.
func (b *Toolbox) keep(t chela.ToolSpec, raw []byte) {
	t.Input = bytes.Clone(t.Input)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxKnown {
		b.known = map[string]written{}
	}
	b.known[t.Name] = written{t, raw}
}

// Forget empties the cache.
func (b *Toolbox) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = nil
}

// Append appends tools with commas between them. Uncached tools are encoded by
// write, which must be deterministic.
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
