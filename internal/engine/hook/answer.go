package hook

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"chela"
)

// An answer is the JSON answer of a command or webhook.
type answer struct {
	Action string          `json:"action"`
	Text   *string         `json:"text"`
	Args   json.RawMessage `json:"args"`
	Reason string          `json:"reason"`
}

// read parses the answer of a hook to a moment. An empty answer means continue.
func read(raw []byte, m Moment) (outcome, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return outcome{action: actContinue}, nil
	}
	if len(raw) > maxAnswer {
		return outcome{}, chela.Ef(chela.Exhausted, "its answer is larger than %d bytes", maxAnswer)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return outcome{}, chela.E(chela.Invalid, "its answer is not a JSON object").Because(err)
	}
	if !utf8.Valid(raw) {
		return outcome{}, chela.E(chela.Invalid, "its answer is not valid UTF-8")
	}
	switch a.Action {
	case actContinue, "":
		return outcome{action: actContinue}, nil
	case actReject:
		return outcome{action: actReject, reason: a.Reason}, nil
	case actModify:
		return a.modified(m)
	}
	return outcome{}, chela.Ef(chela.Invalid, "its action is %.40q; use continue, modify or reject", a.Action)
}

func (a answer) modified(m Moment) (outcome, error) {
	switch {
	case m.Point == chela.HookBeforeToolCall && a.Args != nil:
		return outcome{action: actModify, text: string(a.Args)}, nil
	case m.Point != chela.HookBeforeToolCall && a.Text != nil:
		return outcome{action: actModify, text: *a.Text}, nil
	}
	return outcome{}, chela.E(chela.Invalid, `its action is modify without a value; set "args" at before_tool_call, "text" elsewhere`)
}
