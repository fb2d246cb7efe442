package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

const introduction = "I am chela's offline stand-in: fixed rules, not a language model. I can do small things such as:\n\n" +
	"- What time is it in Tokyo and what is 17*23?\n- List the files\n- Write hello to a.txt, then read a.txt\n- Run the command: uname -a\n\n" +
	"For a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `chela init`."

// report answers in words: the results of the calls, or the words of the actions.
func (p *plan) report(tools []chela.ToolSpec) string {
	var parts []string
	for _, c := range p.done {
		parts = append(parts, outcome(c.CallSpec, c.result))
	}
	if p.unclear && len(parts) == 0 {
		return "I did not understand that. " + introduction
	}
	for _, a := range p.actions {
		switch {
		case a.words != "":
			parts = append(parts, a.words)
		case !offered(tools, a.tool):
			parts = append(parts, "I would need the tool "+a.tool+" for that, and it is not offered here.")
		}
	}
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

// deeds describe what a tool does, before the argument that it does it to.
var deeds = map[string]string{
	"time": "tell the time", "calc": "compute", "read_file": "read", "write_file": "write", "list_dir": "list", "shell": "run",
}

// outcome describes the result of a call.
func outcome(c chela.CallSpec, r chela.Message) string {
	var args struct{ Path, Command, Expression, Content, Zone string }
	_ = json.Unmarshal(c.Args, &args) // arguments that are no object have no fields
	object := cmp.Or(args.Path, args.Command, args.Expression)
	deed := strings.TrimSpace(cmp.Or(deeds[c.Tool], "use "+c.Tool) + " " + object)
	text := strings.TrimRight(r.Text, "\n")
	reason, denied := strings.CutPrefix(text, "denied: ")
	switch {
	case r.Role == "":
		return "The call of " + c.Tool + " was not answered."
	case strings.Contains(text, "may or may not"):
		return present("I cannot tell whether I did "+deed, text)
	case r.Failed && denied:
		return present("I was not allowed to "+deed+", so I did not", reason)
	case r.Failed:
		return present("I could not "+deed, text)
	case c.Tool == "time":
		_, readable, _ := strings.Cut(text, "\n") // the second line is for people
		readable, _, _ = strings.Cut(readable, ";")
		place := strings.ReplaceAll(args.Zone[strings.LastIndex(args.Zone, "/")+1:], "_", " ")
		return "It is " + cmp.Or(readable, text) + " in " + cmp.Or(place, "UTC") + "."
	case c.Tool == "calc":
		return object + " = " + text + "."
	case c.Tool == "write_file":
		return fmt.Sprintf("I wrote %s, %d bytes.", object, len(args.Content))
	case c.Tool == "list_dir" && object == ".":
		object = "The workspace"
	case text == "":
		return "I did " + deed + "; it printed nothing."
	}
	return present(cmp.Or(object, c.Tool), numbers.ReplaceAllString(text, ""))
}

// numbers are the line numbers of a result of read_file.
var numbers = regexp.MustCompile(`(?m)^ *\d+\t`)

// longQuote is the most that is quoted of a result, in bytes.
const longQuote = 4000

// present appends a text to a lead: in the same sentence if it is short, else in
// a block between fences that do not occur in it.
func present(lead, text string) string {
	if len(text) <= 200 && !strings.ContainsAny(text, "\n`") {
		return lead + ": " + strings.TrimSuffix(text, ".") + "."
	}
	rest := ""
	if whole := len(text); whole > longQuote {
		text = excerpt.Bytes(text, longQuote)
		rest = fmt.Sprintf("\n(and %d more bytes)", whole-len(text))
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return lead + ":\n\n" + fence + "\n" + text + "\n" + fence + rest
}
