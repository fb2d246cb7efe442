package routine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/routine/rule"
	"chela/internal/store"
)

// maxDocument is how much of a document the prompt of a lightweight run shows, in
// bytes.
const maxDocument = 20_000

// documents is the part of a prompt that shows the documents of a lightweight run.
// One that does not exist is told so.
func documents(ctx context.Context, r *store.Read, v chela.Routine) (string, error) {
	var all strings.Builder
	for _, path := range v.Action.Documents {
		doc, err := r.Document(ctx, v.Agent, path)
		switch {
		case chela.KindOf(err) == chela.NotFound:
			fmt.Fprintf(&all, "\n\nThere is no document %s.", path)
			continue
		case err != nil:
			return "", err
		}
		text := excerpt.Bytes(doc.Text, maxDocument)
		if len(text) < len(doc.Text) {
			text += "\n(cut off here)"
		}
		fmt.Fprintf(&all, "\n\nThe document %s:\n%s", path, rule.Fenced("document", text))
	}
	return all.String(), nil
}

// textArgs are the arguments of work that is a text.
func textArgs(text string) json.RawMessage {
	args, _ := json.Marshal(text) // text always can be
	return args
}

func argsText(args json.RawMessage) (text string, err error) {
	err = json.Unmarshal(args, &text)
	return text, err
}
