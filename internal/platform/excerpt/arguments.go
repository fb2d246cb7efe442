package excerpt

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Arguments returns the values of a call's arguments in one text: the identifying
// values first, the rest in the order of args. Text that is no JSON object is returned
// unchanged.
func Arguments(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return args
	}
	var names, rest []string
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err != nil {
			break
		}
		if err := d.Decode(&value); err != nil {
			break
		}
		switch key {
		case "operation", "method", "path", "url", "command":
			names = append(names, word(value))
		default:
			rest = append(rest, word(value))
		}
	}
	return strings.Join(append(names, rest...), " ")
}

func word(value json.RawMessage) string {
	var s *string
	if json.Unmarshal(value, &s) == nil && s != nil {
		return *s
	}
	var b bytes.Buffer
	if json.Compact(&b, value) == nil {
		return b.String()
	}
	return string(value)
}
