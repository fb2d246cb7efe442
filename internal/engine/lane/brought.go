package lane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// MaxBroughtBytes limits the total size of a message's history, tools and
// results.
const MaxBroughtBytes = 1 << 20

// maxOffers and maxResults limit the client-side tools and the results of one
// message. A step never hands out more calls than maxResults.
const (
	maxOffers  = 128
	maxResults = 64
)

// checkBrought validates a message's history, tools and results; violations are
// Invalid errors.
func checkBrought(in chela.Inbound) error {
	var texts []string
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
			return chela.E(chela.Invalid, "the history, tools or results of the message are not valid UTF-8").WithHint("convert it, for example with iconv -t utf-8")
		}
		size += len(text)
	}
	if size > MaxBroughtBytes {
		return chela.Ef(chela.Invalid, "the message has %d bytes of history, tools and results; the limit is %d", size, MaxBroughtBytes).
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
			why = fmt.Sprintf("has the role %.20q", m.Role)
		case len(m.Calls) > 0:
			why = "has tool calls"
		case m.Text == "" && len(m.Attachments) == 0:
			why = "is empty"
		default:
			continue
		}
		return chela.Ef(chela.Invalid, "message %d of the history %s", i+1, why).
			WithHint("send user and assistant messages with text only")
	}
	return nil
}

func checkOffers(offers []chela.ToolSpec) error {
	if len(offers) > maxOffers {
		return chela.Ef(chela.Invalid, "the message has %d tools; the limit is %d", len(offers), maxOffers).
			WithHint("send fewer")
	}
	seen := make(map[string]bool, len(offers))
	for _, o := range offers {
		var object map[string]json.RawMessage
		switch {
		case !toolName().MatchString(o.Name):
			return chela.Ef(chela.Invalid, "%.80q is not a valid tool name", o.Name).
				WithHint(`use 1 to 64 letters, digits, "_" and "-"`)
		case seen[o.Name]:
			return chela.E(chela.Invalid, "the tool "+o.Name+" is declared twice").WithHint("use a unique name for each")
		case len(o.Input) > 0 && (json.Unmarshal(o.Input, &object) != nil || object == nil):
			return chela.E(chela.Invalid, "the schema of the tool "+o.Name+" is not a JSON object").
				WithHint("send a JSON Schema, or none for a tool without arguments")
		}
		seen[o.Name] = true
	}
	return nil
}

// toolName matches the names that every provider accepts for a tool.
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

func checkResults(results []chela.OfferResult) error {
	if len(results) > maxResults {
		return chela.Ef(chela.Invalid, "the message has %d results; the limit is %d", len(results), maxResults).
			WithHint("send them in several messages")
	}
	seen := make(map[chela.CallID]bool, len(results))
	for _, r := range results {
		if seen[r.Call] {
			return chela.Ef(chela.Invalid, "the message has two results for call %.60q", r.Call).WithHint("send one result per call")
		}
		seen[r.Call] = true
	}
	return nil
}

// asStored normalizes checked tool declarations to the form the journal
// returns, so that the prompts of all runs of a turn are byte-identical. A tool
// without a schema takes no arguments.
func asStored(offers []chela.ToolSpec) []chela.ToolSpec {
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
