package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/platform/excerpt"
)

// nearest returns the exchange whose request has the longest common beginning
// with another.
func (p *Player) nearest(asked recordedRequest) recordedExchange {
	best, most := 0, -1
	for i, x := range p.exchanges {
		if n := agreement(x.Request, asked); n > most {
			best, most = i, n
		}
	}
	return p.exchanges[best]
}

// agreement counts the leading messages that two requests have in common, and
// reports whether they differ elsewhere.
func agreement(a, b recordedRequest) int {
	n := 0
	for n < min(len(a.Messages), len(b.Messages)) && shownValue(a.Messages[n]) == shownValue(b.Messages[n]) {
		n++
	}
	n *= 4
	for _, same := range []bool{a.System == b.System, shownValue(a.Tools) == shownValue(b.Tools), len(a.Messages) == len(b.Messages)} {
		if same {
			n++
		}
	}
	return n
}

// difference describes the first difference between two requests.
func difference(recorded, asked recordedRequest) string {
	for i := range min(len(recorded.Messages), len(asked.Messages)) {
		was, is := recorded.Messages[i], asked.Messages[i]
		what := fmt.Sprintf("message %d (%s)", i+1, is.Role)
		switch {
		case was.Text != is.Text:
			return what + ": " + firstChange(was.Text, is.Text)
		case shownValue(was) != shownValue(is):
			return what + ": " + firstChange(shownValue(was), shownValue(is))
		}
	}
	switch {
	case len(recorded.Messages) != len(asked.Messages):
		return fmt.Sprintf("number of messages: %d recorded, %d asked", len(recorded.Messages), len(asked.Messages))
	case recorded.System != asked.System:
		return "system text: " + firstChange(recorded.System, asked.System)
	case recorded.Thinking != asked.Thinking:
		return "thinking level: " + firstChange(string(recorded.Thinking), string(asked.Thinking))
	case recorded.MaxTokens != asked.MaxTokens:
		return fmt.Sprintf("limit of the answer: %d recorded, %d asked", recorded.MaxTokens, asked.MaxTokens)
	default:
		return "list of tools: " + firstChange(toolsOf(recorded), toolsOf(asked))
	}
}

// toolsOf returns the names of the tools, or their JSON if the names are equal.
func toolsOf(r recordedRequest) string {
	var lines []string
	for _, t := range r.Tools {
		lines = append(lines, t.Name+" "+t.Description+" "+string(t.Input))
	}
	return strings.Join(lines, "; ")
}

// firstChange quotes two texts around their first difference.
func firstChange(recorded, asked string) string {
	at := 0
	for at < min(len(recorded), len(asked)) && recorded[at] == asked[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("%q recorded, %q asked", excerptAround(recorded, from), excerptAround(asked, from))
}

// excerptAround returns a few words of a text.
func excerptAround(text string, from int) string {
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

// shownValue returns a value as JSON.
func shownValue[T chela.Message | []chela.ToolSpec](v T) string {
	text, _ := json.Marshal(v) // it was decoded from JSON
	return string(text)
}
