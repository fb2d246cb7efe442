package replay

import (
	"encoding/json"
	"reflect"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/turn/machine"
)

// An ask is one request to the model.
type ask struct {
	size    api.StepSize
	sent    []chela.Message
	entries int // number of recorded entries before its answer
}

func newAsk(req *chela.Request, step, entries int) ask {
	a := ask{sent: req.Messages, entries: entries}
	a.size = api.StepSize{Step: step, Messages: len(req.Messages), Bytes: len(req.System)}
	for _, part := range []any{req.Tools, req.Messages} {
		if raw, err := json.Marshal(part); err == nil { // values that do not encode have no size
			a.size.Bytes += len(raw)
		}
	}
	return a
}

// derived returns the prompt derived from the record before the answer, and the
// one sent, both without their common prefix.
func (a ask) derived(rec *Record) (want, sent []chela.Message) {
	path := slices.Concat(rec.Before, rec.Entries[:a.entries])
	want, sent = machine.Begin(chela.Thread{}, path).Conversation.Messages, a.sent
	for len(want) > 0 && len(sent) > 0 && reflect.DeepEqual(want[0], sent[0]) {
		want, sent = want[1:], sent[1:]
	}
	return want, sent
}
