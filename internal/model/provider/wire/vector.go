package wire

import (
	"slices"
	"strconv"

	"chela/internal/model/provider"
)

// Vector reads a list of numbers as an embedding. It returns nil for an empty
// list, or if an item is not a number in the range of float32.
func Vector(v Value) []float32 {
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

// Embeddings reads a response with n embeddings; read is called with each
// member. It returns the error reported in the response, or an error if an
// embedding is missing.
func (g Guard) Embeddings(whole Value, n int, read func(into *provider.EmbeddingAnswer, name string, v Value)) (*provider.EmbeddingAnswer, error) {
	if told, ok := g.Told(whole); ok {
		return nil, told
	}
	answer := &provider.EmbeddingAnswer{Vectors: make([][]float32, n)}
	for name, v := range whole.Members() {
		read(answer, name, v)
	}
	if slices.ContainsFunc(answer.Vectors, func(v []float32) bool { return v == nil }) {
		return nil, g.Unreadable("sent an answer without an embedding for each input")
	}
	return answer, nil
}

// Vectors returns the n embeddings of a list; pick finds the embedding in an
// item. Missing ones are nil.
func Vectors(list Value, n int, pick func(item Value) Value) [][]float32 {
	vectors := make([][]float32, n)
	place := 0
	for item := range list.Items() {
		if place == n {
			return make([][]float32, n) // the items cannot be matched with the inputs
		}
		vectors[place] = Vector(pick(item))
		place++
	}
	return vectors
}
