package wire

import (
	"context"
	"slices"
	"strconv"

	"chela/internal/model/provider"
)

// An EmbeddingForm says how a protocol asks for embeddings and answers.
type EmbeddingForm struct {
	Path   string
	Inputs int
	List   string   // member with the list of the embeddings, in order unless an item has an index
	Vector string   // member of an item with its numbers; empty for the item itself
	Tokens []string // path of the number of tokens, which a server that does not count omits
}

// Embed requests embeddings. It returns the error reported in the response, or an
// error if an embedding is missing.
func (s *Server) Embed(ctx context.Context, body any, form EmbeddingForm) (*provider.EmbeddingAnswer, error) {
	whole, err := s.Object(ctx, form.Path, body)
	if err != nil {
		return nil, err
	}
	if told, ok := s.Told(whole); ok {
		return nil, told
	}
	answer := &provider.EmbeddingAnswer{Vectors: make([][]float32, form.Inputs)}
	place, matched := int64(0), true
	for item := range whole.Member(form.List).Items() {
		at, numbers := place, item
		if index := item.Member("index"); index != nil {
			at = index.Int()
		} else if place >= int64(form.Inputs) {
			matched = false // the items cannot be matched with the inputs
		}
		if form.Vector != "" {
			numbers = item.Member(form.Vector)
		}
		if at >= 0 && at < int64(form.Inputs) {
			answer.Vectors[at] = vector(numbers)
		}
		place++
	}
	if !matched || slices.ContainsFunc(answer.Vectors, func(v []float32) bool { return v == nil }) {
		return nil, s.Unreadable("sent an answer without an embedding for each input")
	}
	for _, name := range form.Tokens {
		whole = whole.Member(name)
	}
	answer.Tokens = max(whole.Int(), 0)
	return answer, nil
}

// vector reads a list of numbers as an embedding. It returns nil for an empty
// list, or if an item is not a number in the range of float32.
func vector(v Value) []float32 {
	var vector []float32
	for item := range v.Items() {
		f, err := strconv.ParseFloat(string(item), 32)
		if err != nil {
			return nil
		}
		vector = append(vector, float32(f))
	}
	return vector
}
