package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"chela"
	"chela/internal/provider/wire"
)

// maxKnown bounds how many tools are remembered. Agents have a few dozen; those
// that clients offer may be others each time.
const maxKnown = 512

// A toolbox remembers how tools are written: sessions ask with the same ones
// again and again, and the check of their schemas is most of what it costs.
type toolbox struct {
	mu    sync.Mutex
	known map[string]written // by the name of the tool; guarded by mu
}

type written struct {
	tool chela.ToolSpec // with a schema of its own, since requests must not be kept
	json []byte
}

// find returns how t is written, or nil if that is not known.
func (b *toolbox) find(t chela.ToolSpec) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.known[t.Name]
	if !ok || w.tool.Description != t.Description || !bytes.Equal(w.tool.Input, t.Input) {
		return nil
	}
	return w.json
}

// keep remembers how t is written.
func (b *toolbox) keep(t chela.ToolSpec, raw []byte) {
	t.Input = bytes.Clone(t.Input)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxKnown {
		b.known = map[string]written{}
	}
	b.known[t.Name] = written{t, raw}
}

// appendTools appends the member of a request that holds its tools.
func (p *Provider) appendTools(b []byte, tools []chela.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	b = append(b, `,"tools":[`...)
	for i, t := range tools {
		raw := p.tools.find(t)
		if raw == nil {
			var err error
			if raw, err = p.tool(t); err != nil {
				return nil, err
			}
			p.tools.keep(t, raw)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, raw...)
	}
	return append(b, ']'), nil
}

// tool writes a tool. Its schema stays as it is but for blanks, so that equal
// tools make equal requests and prompt caches hit.
func (p *Provider) tool(t chela.ToolSpec) ([]byte, error) {
	var compact bytes.Buffer
	err := json.Compact(&compact, t.Input)
	schema := bytes.ToValidUTF8(compact.Bytes(), []byte("\uFFFD"))
	switch {
	case string(schema) == "null": // no parameters
		schema = []byte("{}")
	case err != nil || schema[0] != '{':
		return nil, p.guard.Error(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
	}
	b := wire.AppendString([]byte(`{"type":"function","function":{"name":`), t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	b = append(b, `,"parameters":`...)
	b = append(b, schema...)
	return append(b, "}}"...), nil
}
