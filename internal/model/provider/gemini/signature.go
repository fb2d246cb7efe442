package gemini

import (
	"strconv"
	"strings"

	"chela"
)

// The server signs parts of an answer, and requires the signatures back at the
// same parts; see https://ai.google.dev/gemini-api/docs/thought-signatures.
// Models of generation 3 and later reject calls without one. Signatures are
// stored among the thoughts of a message, each with the model that can read it
// and its part.

// Places of signatures. A call is identified by its index in the message.
const (
	placeThought = "thought"
	placeText    = "text"
)

func placeOf(call int) string { return strconv.Itoa(call) }

// A mark is a signature with its model and place.
type mark struct {
	model, place, signature string
}

// String returns the stored form: three words.
func (m mark) String() string { return m.model + " " + m.place + " " + m.signature }

// readMark parses the stored form. A thought without a signature has none.
func readMark(t chela.Thinking) (mark, bool) {
	words := strings.Split(t.Signature, " ")
	if t.Provider != kind || len(words) != 3 {
		return mark{}, false
	}
	return mark{model: words[0], place: words[1], signature: words[2]}, true
}

// A signing is the treatment of a conversation's signatures.
type signing bool

const (
	keepSignatures    signing = true  // send them back to the model that can read them
	replaceSignatures signing = false // leave them out, since the server could not read them
)

// unsigned replaces the signature of a call by another model; Google documents
// it for conversations that other models began.
const unsigned = "skip_thought_signature_validator"

// withSignatures is the first generation that rejects a step whose first call
// is unsigned.
const withSignatures = 3

// signature returns the signature that a thought holds for a place, or "" if it
// is not to be sent back.
func (c *conversation) signature(t chela.Thinking, place string) string {
	kept, ok := readMark(t)
	if !ok || c.how == replaceSignatures || kept.model != c.model || kept.place != place {
		return ""
	}
	return kept.signature
}

// find returns the signature for a part of a message, or "" if it needs none.
func (c *conversation) find(m *chela.Message, place string) string {
	for _, t := range m.Thinking {
		if signature := c.signature(t, place); signature != "" {
			return signature
		}
	}
	if place == placeOf(0) && c.generation >= withSignatures {
		return unsigned
	}
	return ""
}
