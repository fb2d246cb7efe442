package terminal

import (
	"encoding/json"
	"strings"

	"chela"
)

// A View selects which parts of a turn are shown beside its answer. The zero
// View shows the calls of tools and no reasoning.
type View struct {
	Stream    bool   // the answer is streamed
	Verbose   string // of tools: "off" nothing, "on" the calls, "full" their arguments and results too
	Reasoning string // of the model: "off" nothing, "on" each thought as it ends, "stream" as it comes
}

// Whole reports whether results of calls are shown, which events do not
// contain.
func (v View) Whole() bool { return v.Verbose == "full" }

// quiet reports whether calls are not shown.
func (v View) quiet() bool { return v.Verbose == "off" }

// Prefixes of lines that are not the answer.
const (
	outputBar  = "  │ "
	thoughtBar = "  ~ "
	resultBar  = "  = "
)

// think shows a piece of the model's reasoning, or buffers it until the thought
// ends.
func (r *Renderer) think(text string) {
	switch r.view.Reasoning {
	case "stream":
		r.piece(text, thoughtBar)
	case "on":
		r.thought.WriteString(text)
	}
}

// thoughtEnds shows the buffered thought, once other output follows.
func (r *Renderer) thoughtEnds() {
	if r.thought.Len() > 0 {
		text := strings.TrimSpace(r.thought.String())
		r.thought.Reset()
		r.block(text, thoughtBar)
	}
}

// block shows lines that belong together.
func (r *Renderer) block(text, bar string) {
	if text == "" {
		return
	}
	r.clear()
	r.endLine()
	r.latest = ""
	r.piece(strings.TrimSuffix(text, "\n")+"\n", bar)
}

// arguments shows all arguments of a call.
func (r *Renderer) arguments(args string) {
	var value any
	if json.Unmarshal([]byte(args), &value) == nil {
		if pretty, err := json.MarshalIndent(value, "", "  "); err == nil {
			args = string(pretty)
		}
	}
	if args != "{}" {
		r.block(args, outputBar)
	}
}

// Result shows the result of a call.
func (r *Renderer) Result(e chela.Entry) { r.block(e.Text(), resultBar) }
