package inbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"chela"
)

// MaxBroughtBytes bounds what a message brings beside its text: history,
// offers and results together.
const MaxBroughtBytes = 1 << 20

// maxOffers is how many tools a message may offer, and maxResults how many
// results it may bring: more calls are not handed out at once.
const (
	maxOffers  = 128
	maxResults = 64
)

// checkBrought returns an Invalid error if what a message brings beside its
// text cannot be accepted.
func checkBrought(in chela.Inbound) error {
	texts := make([]string, 0, len(in.History)+3*len(in.Offers)+len(in.Results))
	for _, m := range in.History {
		texts = append(texts, m.Text)
	}
	for _, o := range in.Offers {
		texts = append(texts, o.Name, o.Description, string(o.Input))
	}
	for _, r := range in.Results {
		texts = append(texts, r.Text)
	}
	size := 0
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return chela.E(chela.Invalid, "what the message brings is not valid UTF-8").WithHint("convert it, for example with iconv -t utf-8")
		}
		size += len(text)
	}
	if size > MaxBroughtBytes {
		return chela.E(chela.Invalid, fmt.Sprintf("the message brings %d bytes beside its text, and %d are allowed", size, MaxBroughtBytes)).
			WithHint("send less history, fewer tools or shorter results")
	}
	if err := checkHistory(in.History); err != nil {
		return err
	}
	if err := checkOffers(in.Offers); err != nil {
		return err
	}
	return checkResults(in.Results)
}

func checkHistory(history []chela.Message) error {
	for i, m := range history {
		var why string
		switch {
		case m.Role != chela.RoleUser && m.Role != chela.RoleAssistant:
			why = fmt.Sprintf("is of role %.20q", m.Role)
		case len(m.Calls) > 0:
			why = "has tool calls"
		case m.Text == "" && len(m.Attachments) == 0:
			why = "is empty"
		default:
			continue
		}
		return chela.E(chela.Invalid, fmt.Sprintf("message %d of the history %s", i+1, why)).
			WithHint("bring what user and assistant said, as text")
	}
	return nil
}

func checkOffers(offers []chela.ToolSpec) error {
	if len(offers) > maxOffers {
		return chela.E(chela.Invalid, fmt.Sprintf("the message offers %d tools, and %d are allowed", len(offers), maxOffers)).
			WithHint("offer fewer")
	}
	seen := make(map[string]bool, len(offers))
	for _, o := range offers {
		var object map[string]json.RawMessage
		switch {
		case !isName(o.Name):
			return chela.E(chela.Invalid, fmt.Sprintf("%.80q is no name for a tool", o.Name)).
				WithHint(`use 1 to 64 letters, digits, "_" and "-"`)
		case seen[o.Name]:
			return chela.E(chela.Invalid, "the tool "+o.Name+" is offered twice").WithHint("give each a name of its own")
		case len(o.Input) > 0 && (json.Unmarshal(o.Input, &object) != nil || object == nil):
			return chela.E(chela.Invalid, "the schema of the tool "+o.Name+" is not a JSON object").
				WithHint("send a JSON Schema, or none for a tool without arguments")
		}
		seen[o.Name] = true
	}
	return nil
}

// isName reports whether every provider takes s for the name of a tool.
func isName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if digit := '0' <= c && c <= '9'; !letter && !digit && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func checkResults(results []chela.OfferResult) error {
	if len(results) > maxResults {
		return chela.E(chela.Invalid, fmt.Sprintf("the message brings %d results, and %d are allowed", len(results), maxResults)).
			WithHint("bring them in several messages")
	}
	seen := make(map[chela.CallID]bool, len(results))
	for _, r := range results {
		if seen[r.Call] {
			return chela.E(chela.Invalid, fmt.Sprintf("the message brings two results of call %.60q", r.Call)).WithHint("bring one for each call")
		}
		seen[r.Call] = true
	}
	return nil
}

// AsStored returns offers that were checked as the journal will give them back,
// so that the prompts of all runs of a turn are the same to the byte. A tool
// without a schema takes no arguments.
func AsStored(offers []chela.ToolSpec) []chela.ToolSpec {
	var stored []chela.ToolSpec
	for _, o := range offers {
		var input bytes.Buffer
		if len(o.Input) == 0 {
			o.Input = json.RawMessage(`{"type":"object","properties":{}}`)
		} else if json.Compact(&input, o.Input) == nil {
			o.Input = input.Bytes()
		}
		stored = append(stored, o)
	}
	return stored
}
