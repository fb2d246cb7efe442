package offline

import (
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

const greeting = "Hello! I am chela's offline stand-in; tell me what to do in a few plain words."

// about is a placeholder for the self-description in a plan's talk, which
// depends on the offered tools.
const about = "about"

// report answers in words: the results of the steps, or the plan's talk.
func (p *plan) report(m *moment, tools []chela.ToolSpec) string {
	parts := slices.Clone(p.words)
	for i, s := range m.done {
		for k, c := range s.calls {
			parts = append(parts, p.outcome(i, c, s.results[k]))
		}
	}
	if p.unclear && len(m.done) == 0 {
		parts = append(parts, "I did not understand that. "+describe(tools))
	}
	parts = append(parts, p.rest(m, tools)...)
	if len(parts) > 0 {
		return join(parts)
	}
	for _, words := range p.talk {
		if words == about {
			words = describe(tools)
		}
		parts = append(parts, words)
	}
	return join(parts)
}

// rest reports the steps that were not done, and the reason.
func (p *plan) rest(m *moment, tools []chela.ToolSpec) []string {
	n := len(m.done)
	stopped := n > 0 && m.done[n-1].failed()
	reached := p.steps[:min(n, len(p.steps))]
	if !stopped && n < len(p.steps) {
		reached = p.steps[:n+1]
	}
	var parts []string
	for _, a := range slices.Concat(reached...) {
		part := "I would need the tool " + a.tool + " for that, and it is not offered here."
		if !offered(tools, a.tool) && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	switch {
	case n >= len(p.steps):
	case stopped:
		parts = append(parts, "So I left the rest undone.")
	case len(parts) == 0:
		parts = append(parts, "That was not shown to me in full, so I did not go on with it.")
	}
	return parts
}

// join joins short parts into one paragraph, and separates long ones.
func join(parts []string) string {
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i == 0:
		case strings.Contains(part, "\n") || strings.Contains(parts[i-1], "\n"):
			b.WriteString("\n\n")
		default:
			b.WriteString(" ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// describe introduces the provider and the requests that these tools allow.
func describe(tools []chela.ToolSpec) string {
	var b strings.Builder
	b.WriteString("I am chela's offline stand-in: fixed rules, not a language model. ")
	shown := 0
	for _, e := range examples {
		if shown == 3 || !offeredAll(tools, e.tools) {
			continue
		}
		if shown == 0 {
			b.WriteString("I can do small things such as:\n")
		}
		shown++
		b.WriteString("\n- " + e.text)
	}
	if shown == 0 {
		b.WriteString("I can only work with tools, and none that I know is offered here.")
	}
	b.WriteString("\n\nFor a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `chela init`.")
	return b.String()
}

var examples = []struct {
	tools []string
	text  string
}{
	{[]string{"time", "calc"}, "What time is it in Tokyo and what is 17*23?"},
	{[]string{"list_dir"}, "List the files"},
	{[]string{"write_file", "read_file"}, "Write hello to a.txt, then read it"},
	{[]string{"shell"}, "Run `uname -a`"},
	{[]string{"http"}, "Fetch https://example.com"},
	{[]string{"grep"}, "Search for TODO in all files"},
	{[]string{"time"}, "What time is it in Tokyo?"},
	{[]string{"calc"}, "What is 17*23?"},
	{[]string{"read_file"}, "Read a.txt"},
	{[]string{"json"}, `Parse this JSON: {"a": [1, 2]}`},
	{[]string{"echo"}, "Echo hello"},
}

func offeredAll(tools []chela.ToolSpec, names []string) bool {
	for _, name := range names {
		if !offered(tools, name) {
			return false
		}
	}
	return true
}

// outcome describes the result of one call, made in the step of the given
// index.
func (p *plan) outcome(step int, c chela.CallSpec, r chela.Message) string {
	text := strings.TrimRight(r.Text, "\n")
	switch {
	case r.Role == "":
		return fmt.Sprintf("The call of %s was not answered.", c.Tool)
	case r.Failed:
		return failure(c, text)
	default:
		return p.success(step, c, text)
	}
}

var (
	denial    = lazy(`^denied\b`)
	onlyNote  = lazy(`^\[([^\n]*)\]$`) // a result that is a remark, such as [no line matches]
	uncertain = lazy(`(?i)may or may not`)
)

func failure(c chela.CallSpec, text string) string {
	reason := strings.TrimPrefix(text, "denied: ")
	switch {
	case uncertain().MatchString(text):
		return explain("I cannot tell whether I did "+deed(c), text)
	case denial().MatchString(text):
		return explain("I was not allowed to "+deed(c)+", so I did not", reason)
	default:
		return explain("I could not "+deed(c), text)
	}
}

// deed describes a call so that it can follow "I could not".
func deed(c chela.CallSpec) string {
	path := argument(c, "path")
	switch c.Tool {
	case "time":
		return "tell the time"
	case "calc":
		return "compute " + argument(c, "expression")
	case "echo":
		return "echo it"
	case "json":
		return argument(c, "operation") + " the JSON"
	case "read_file":
		return "read " + path
	case "write_file":
		return "write " + path
	case "apply_patch":
		return "change " + path
	case "list_dir":
		return "list " + path
	case "glob", "grep":
		return "search for " + argument(c, "pattern")
	case "shell":
		return "run `" + argument(c, "command") + "`"
	case "http":
		return "fetch " + argument(c, "url")
	default:
		return "use " + c.Tool
	}
}

func (p *plan) success(step int, c chela.CallSpec, text string) string {
	switch c.Tool {
	case "time":
		return p.timeSentence(step, c, text)
	case "calc":
		return argument(c, "expression") + " = " + text + "."
	case "echo":
		return text
	case "write_file":
		return fmt.Sprintf("I wrote %s, %d bytes.", argument(c, "path"), len(argument(c, "content")))
	case "apply_patch":
		return "I changed " + argument(c, "path") + "."
	case "read_file":
		if text, _ = value(c.Tool, text); text == "" {
			return argument(c, "path") + " is empty."
		}
	case "list_dir", "glob", "grep":
		if m := onlyNote().FindStringSubmatch(text); m != nil {
			return explain("I did "+deed(c), m[1])
		}
	}
	if text == "" {
		return "I did " + deed(c) + "; nothing came back."
	}
	return present(lead(c), text)
}

// lead introduces the result of a call.
func lead(c chela.CallSpec) string {
	switch c.Tool {
	case "read_file":
		return argument(c, "path") + " says"
	case "list_dir":
		if path := argument(c, "path"); path != "." {
			return path + " has"
		}
		return "The workspace has"
	case "glob", "grep":
		return "For " + argument(c, "pattern") + " I found"
	case "shell":
		return "`" + argument(c, "command") + "` printed"
	case "http":
		return argument(c, "url") + " answered"
	case "json":
		return "The JSON gives"
	default:
		return c.Tool + " returned"
	}
}

// timeSentence words the result of the time tool, whose second line is for
// people: "Saturday, 21 November 2026, 15:04:05; zone …".
func (p *plan) timeSentence(step int, c chela.CallSpec, text string) string {
	_, readable, _ := strings.Cut(text, "\n")
	readable, _, found := strings.Cut(readable, ";")
	if !found {
		return sentence(text)
	}
	place := p.placeOf(step, c)
	switch argument(c, "operation") {
	case "now":
		return "It is " + readable + " " + place + "."
	case "convert":
		return "That is " + readable + " " + place + "."
	default:
		return "That is " + readable + "."
	}
}

// placeOf names the place of a time call, in the person's words if the request
// had any.
func (p *plan) placeOf(step int, c chela.CallSpec) string {
	zone := argument(c, "zone")
	if to := argument(c, "to_zone"); to != "" {
		zone = to
	}
	if step < len(p.steps) {
		for _, a := range p.steps[step] {
			if a.tool == c.Tool && a.place != "" && (a.args["to_zone"] == zone || a.args["zone"] == zone) {
				return "in " + a.place
			}
		}
	}
	if zone == "" {
		zone = "UTC"
	}
	return "in " + zone
}

// Limits of a quoted result: up to shortQuote bytes on one line go into the
// sentence, more into a block, which is truncated after longQuote bytes.
const (
	shortQuote = 200
	longQuote  = 4000
)

// present appends a tool's result to a lead: in the same sentence, or in a
// block.
func present(lead, text string) string {
	if len(text) <= shortQuote && !strings.ContainsAny(text, "\n`") {
		return lead + " `" + text + "`."
	}
	return lead + ":\n\n" + block(text)
}

// explain appends a reason to a lead.
func explain(lead, reason string) string {
	if len(reason) <= shortQuote && !strings.Contains(reason, "\n") {
		return lead + ": " + sentence(reason)
	}
	return lead + ":\n\n" + block(reason)
}

// sentence ends text with a period unless it has closing punctuation.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// block quotes text between fences that do not occur in it.
func block(text string) string {
	rest := ""
	if len(text) > longQuote {
		whole := len(text)
		text = excerpt.Bytes(text, longQuote)
		rest = fmt.Sprintf("\n(and %d more bytes)", whole-len(text))
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + rest
}
