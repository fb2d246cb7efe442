package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/excerpt"
)

// nearest returns the exchange whose request agrees with another one for longest.
func (p *Player) nearest(asked request) exchange {
	best, most := 0, -1
	for i, x := range p.exchanges {
		if n := agreement(x.Request, asked); n > most {
			best, most = i, n
		}
	}
	return p.exchanges[best]
}

// agreement counts how many messages two requests have in common at their
// beginning, and whether anything is different beside them.
func agreement(a, b request) int {
	n := 0
	for n < min(len(a.Messages), len(b.Messages)) && shown(a.Messages[n]) == shown(b.Messages[n]) {
		n++
	}
	n *= 4
	for _, same := range []bool{a.System == b.System, shown(a.Tools) == shown(b.Tools), len(a.Messages) == len(b.Messages)} {
		if same {
			n++
		}
	}
	return n
}

// difference says what is first different in two requests.
func difference(recorded, asked request) string {
	for i := range min(len(recorded.Messages), len(asked.Messages)) {
		was, is := recorded.Messages[i], asked.Messages[i]
		what := fmt.Sprintf("message %d (%s)", i+1, is.Role)
		switch {
		case was.Text != is.Text:
			return what + ": " + change(was.Text, is.Text)
		case shown(was) != shown(is):
			return what + ": " + change(shown(was), shown(is))
		}
	}
	switch {
	case len(recorded.Messages) != len(asked.Messages):
		return fmt.Sprintf("number of messages: %d recorded, %d asked", len(recorded.Messages), len(asked.Messages))
	case recorded.System != asked.System:
		return "system text: " + change(recorded.System, asked.System)
	case recorded.Thinking != asked.Thinking:
		return "thinking level: " + change(string(recorded.Thinking), string(asked.Thinking))
	case recorded.MaxTokens != asked.MaxTokens:
		return fmt.Sprintf("limit of the answer: %d recorded, %d asked", recorded.MaxTokens, asked.MaxTokens)
	default:
		return "list of tools: " + change(toolsOf(recorded), toolsOf(asked))
	}
}

// toolsOf returns the tools by name, or whole where the names do not differ.
func toolsOf(r request) string {
	var lines []string
	for _, t := range r.Tools {
		lines = append(lines, t.Name+" "+t.Description+" "+string(t.Input))
	}
	return strings.Join(lines, "; ")
}

// change shows two texts from shortly before where they part.
func change(recorded, asked string) string {
	at := 0
	for at < min(len(recorded), len(asked)) && recorded[at] == asked[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("%q recorded, %q asked", around(recorded, from), around(asked, from))
}

// around returns a few words of a text.
func around(text string, from int) string {
	const most = 60
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	text = text[from:]
	if from > 0 {
		text = "…" + text
	}
	return excerpt.Marked(text, most)
}

// shown returns a value as JSON.
func shown[T chela.Message | []chela.ToolSpec](v T) string {
	text, _ := json.Marshal(v) // it was decoded from JSON
	return string(text)
}
