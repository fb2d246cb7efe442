package gemini

import (
	"strconv"
	"strings"

	"chela"
)

// The server signs parts of what a model says, and wants the signatures back at
// the same parts; see https://ai.google.dev/gemini-api/docs/thought-signatures.
// Calls without one are refused by models from generation 3 on. Signatures are
// kept among the thoughts of a message, each with the model that can read it
// and the part that it belongs to.

// The places of signatures. A call is told by its number in the message.
const (
	placeThought = "thought"
	placeText    = "text"
)

func placeOf(call int) string { return strconv.Itoa(call) }

// A mark is a signature with where it belongs.
type mark struct {
	model, place, signature string
}

// String returns the form that is kept: three words.
func (m mark) String() string { return m.model + " " + m.place + " " + m.signature }

// readMark reads the form that is kept. A thought without a signature has none.
func readMark(t chela.Thinking) (mark, bool) {
	words := strings.Split(t.Signature, " ")
	if t.Provider != kind || len(words) != 3 {
		return mark{}, false
	}
	return mark{model: words[0], place: words[1], signature: words[2]}, true
}

// A signing is what becomes of the signatures of a conversation.
type signing bool

const (
	keepSignatures    signing = true  // they are sent back to the model that can read them
	replaceSignatures signing = false // the server could not read them
)

// unsigned stands in for the signature of a call that this model did not make;
// the documents name it for conversations that other models began.
const unsigned = "skip_thought_signature_validator"

// withSignatures is the generation from which on models refuse a step whose first
// call is not signed.
const withSignatures = 3

// signature returns the one that a thought keeps for a place, or "" if that is
// not to be sent back.
func (c *conversation) signature(t chela.Thinking, place string) string {
	kept, ok := readMark(t)
	if !ok || c.how == replaceSignatures || kept.model != c.req.Model || kept.place != place {
		return ""
	}
	return kept.signature
}

// find returns the signature of a part of a message, or "" if it needs none.
func (c *conversation) find(m chela.Message, place string) string {
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
